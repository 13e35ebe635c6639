#include "store/s3/s3_documents.h"

#include <gtest/gtest.h>

#include "core/base/rfc3339.h"

namespace trainwarden::storage {
namespace {

constexpr const char* kPage = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>mine</Name><Prefix>runs/</Prefix><IsTruncated>true</IsTruncated>
  <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
  <Contents><Key>runs/a+b%2Bc%26d</Key><LastModified>2026-11-27T17:40:00.000Z</LastModified>
    <ETag>&quot;70ee1738b6b21e2c8a43f3a5ab0eee71&quot;</ETag><Size>11</Size></Contents>
  <CommonPrefixes><Prefix>runs/first%2F</Prefix></CommonPrefixes>
</ListBucketResult>)";

TEST(S3Documents, APageHasObjectsPrefixesAndTheNextPage) {
  const auto page = parse_object_page(kPage);
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key, "runs/a b+c&d");
  EXPECT_EQ(page->objects[0].info.bytes, 11u);
  EXPECT_EQ(page->objects[0].info.etag, "\"70ee1738b6b21e2c8a43f3a5ab0eee71\"");
  EXPECT_EQ(page->objects[0].info.changed_unix_ns, parse_rfc3339("2026-11-27T17:40:00Z"));
  EXPECT_EQ(page->prefixes, std::vector<std::string>{"runs/first/"});
  EXPECT_EQ(page->next, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

TEST(S3Documents, WhatIsNoPageIsAnError) {
  for (const char* text :
       {"", "<", "<html/>", "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>9000000000000000000</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
    EXPECT_EQ(parse_object_page(text).status().code(), Code::kDataLoss) << text;
  }
}

TEST(S3Documents, AnErrorHasACode) {
  EXPECT_EQ(parse_error_code("<Error><Code>SlowDown</Code><Message>x</Message></Error>"), "SlowDown");
  EXPECT_EQ(parse_error_code("<html>"), "");
}

TEST(S3Documents, EntitiesOfADocumentAreNotExpanded) {
  const std::string bomb = "<!DOCTYPE e [<!ENTITY a \"aaaa\">]><Error><Code>&a;</Code></Error>";
  EXPECT_EQ(parse_error_code(bomb), "&a;");
}

}  // namespace
}  // namespace trainwarden::storage
