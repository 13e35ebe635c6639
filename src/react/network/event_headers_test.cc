#include "react/network/event_headers.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::network {
namespace {

TEST(EventHeaders, MovesAttributesIntoHeaders) {
  const auto event = to_binary(
      R"({"specversion":"1.0","id":"a-7","source":"/x","subject":"Größe \"1\" 100%","count":12,"on":true,"none":null,)"
      R"("datacontenttype":"application/json","data":{"b":1,"a":[1.5,"ß"]}})");
  ASSERT_TRUE(event.ok());
  const std::map<std::string, std::string> headers(event->headers.begin(), event->headers.end());
  const std::map<std::string, std::string> expected{
      {"ce-specversion", "1.0"}, {"ce-id", "a-7"},
      {"ce-source", "/x"},       {"ce-subject", "Gr%C3%B6%C3%9Fe%20%221%22%20100%25"},
      {"ce-count", "12"},        {"ce-on", "true"}};
  EXPECT_EQ(headers, expected);
  EXPECT_EQ(event->content_type, "application/json");
  EXPECT_EQ(event->body, R"({"b":1,"a":[1.5,"ß"]})");
}

TEST(EventHeaders, TakesAnEventWithoutData) {
  const auto event = to_binary(R"({"specversion":"1.0","id":"a"})");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->body, "");
}

TEST(EventHeaders, RefusesWhatIsNoCloudEventWithJson) {
  for (const char* text : {"", "[]", "{", "{\"detail-type\":\"x\",\"detail\":{}}", "7",
                           "{\"specversion\":\"1.0\",\"data_base64\":\"AA==\"}",
                           "{\"specversion\":\"1.0\",\"datacontenttype\":\"text/plain\",\"data\":\"x\"}"}) {
    EXPECT_EQ(to_binary(text).status().code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace trainwarden::network
