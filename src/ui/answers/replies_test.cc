#include "ui/answers/replies.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "data/format/safetensors.h"

namespace trainwarden::answers {
namespace {

TEST(JsonNumber, GivesWhatJsonLacksAsText) {
  EXPECT_EQ(json_number(1.5), 1.5);
  EXPECT_EQ(json_number(std::nan("")), "NaN");
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(ArraysReply, IsADocumentThatReadersOfSafetensorsTake) {
  ArraysReply arrays;
  arrays.add("steps", {2}, std::array{1.0, 2.0});
  arrays.add("pixels", {3}, std::array<std::uint8_t, 3>{7, 8, 9});
  arrays.note("mode", "eval");
  arrays.note_json("tokens", format::OrderedJson{"[CLS]", "a"});
  const Reply reply = std::move(arrays).to_reply();

  const std::string& body = *reply.body;
  const auto header = format::decode_safetensors_header(as_bytes(body), body.size());
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  ASSERT_EQ(header->entries.size(), 2U);
  EXPECT_EQ(header->data_offset % 64, 0U);
  EXPECT_EQ(header->metadata.at("tokens"), R"(["[CLS]","a"])");
  const auto* pixels = header->find("pixels");
  ASSERT_NE(pixels, nullptr);
  EXPECT_EQ(body.substr(header->data_offset + pixels->begin, 3), std::string("\x07\x08\x09"));
}

}  // namespace
}  // namespace trainwarden::answers
