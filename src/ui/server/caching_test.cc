#include "ui/server/caching.h"

#include <set>

#include <gtest/gtest.h>

namespace trainwarden::server {
namespace {

HttpAnswer whole_answer(const std::string& body) {
  HttpAnswer answer;
  answer.add("Content-Type", "application/json");
  answer.set_body(std::make_shared<const std::string>(body));
  answer.add("ETag", etag_of(answer.body));
  return answer;
}

HttpRequest with_header(const std::string& name, const std::string& value) {
  HttpRequest request;
  request.headers.emplace_back(name, value);
  return request;
}

TEST(EtagOf, TellsDocumentsApart) {
  std::set<std::string> seen;
  std::string text;
  for (int length = 0; length < 70; ++length) {
    EXPECT_TRUE(seen.insert(etag_of(text)).second) << length;
    std::string other = text;
    for (std::size_t i = 0; i < other.size(); ++i) {
      other[i] ^= 1;
      EXPECT_TRUE(seen.insert(etag_of(other)).second) << length << " at " << i;
      other[i] ^= 1;
    }
    text += '\0';
  }
}

TEST(ForConditions, SendsNothingToWhoHasIt) {
  const HttpAnswer whole = whole_answer("abc");
  const std::string etag(whole.header("etag"));
  for (const std::string& named : {etag, "\"x\", " + etag, "W/" + etag, std::string("*")}) {
    const HttpAnswer answer = for_conditions(with_header("if-none-match", named), whole);
    EXPECT_EQ(answer.status, 304U) << named;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.header("etag"), etag);
  }
  EXPECT_EQ(for_conditions(with_header("if-none-match", "\"x\""), whole).status, 200U);
}

TEST(ForConditions, SendsThePartThatIsWanted) {
  const HttpAnswer whole = whole_answer("0123456789");
  const auto part = [&](const std::string& range) { return for_conditions(with_header("range", range), whole); };
  EXPECT_EQ(part("bytes=2-4").status, 206U);
  EXPECT_EQ(part("bytes=2-4").body, "234");
  EXPECT_EQ(part("bytes=2-4").header("content-range"), "bytes 2-4/10");
  EXPECT_EQ(part("bytes=7-").body, "789");
  EXPECT_EQ(part("bytes=-3").body, "789");
  EXPECT_EQ(part("bytes=-30").body, "0123456789");
  EXPECT_EQ(part("bytes=8-99999999999").body, "89");
}

TEST(ForConditions, RefusesAPartThatIsNotThere) {
  for (const char* range : {"bytes=10-", "bytes=4-2", "bytes=-0"}) {
    const HttpAnswer answer = for_conditions(with_header("range", range), whole_answer("0123456789"));
    EXPECT_EQ(answer.status, 416U) << range;
    EXPECT_EQ(answer.header("content-range"), "bytes */10") << range;
  }
}

TEST(ForConditions, SendsTheWholeForARangeThatIsNone) {
  for (const char* range : {"bytes=1-2,4-5", "lines=1-2", "bytes=a-b", "bytes=-", "bytes=99999999999999999999-"}) {
    EXPECT_EQ(for_conditions(with_header("range", range), whole_answer("0123456789")).status, 200U) << range;
  }
  HttpRequest request = with_header("range", "bytes=0-1");
  request.headers.emplace_back("if-range", "\"another version\"");
  EXPECT_EQ(for_conditions(request, whole_answer("0123456789")).status, 200U);
}

}  // namespace
}  // namespace trainwarden::server
