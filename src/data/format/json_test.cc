#include "data/format/json.h"

#include <gtest/gtest.h>

namespace trainwarden::format {
namespace {

Json parse(std::string_view text) {
  return parse_json_object(text, "test").value_or(Json());
}

TEST(JsonTest, ReadsOneObjectAndBlanks) {
  EXPECT_EQ(parse("{\"a\":[1,{\"b\":null}]}  \n")["a"][0], 1);
}

TEST(JsonTest, RefusesEverythingElse) {
  for (const char* text : {"", " ", "{", "}", "{}{}", "{} x", "[]", "1", "null", "{\"a\":}", "{a:1}", "{\"a\":1,}",
                           "{\"a\":NaN}", "{\"a\":\"\xFF\"}", "{\"a\":01}", "{\"a\":\"\n\"}", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(parse_json_object(text, "test").status().code(), Code::kDataLoss) << text;
  }
}

TEST(JsonTest, RefusesANameThatIsThereTwice) {
  const Status status = parse_json_object("{\"x\":{\"a\":1,\"a\":2}}", "test").status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find("twice"), std::string::npos) << status.message();
  EXPECT_FALSE(parse_json_object("{\"a\":1,\"\\u0061\":2}", "test").ok()) << "the same name, written otherwise";
  EXPECT_TRUE(parse_json_object("{\"x\":{\"a\":1},\"y\":{\"a\":2},\"a\":3}", "test").ok());
}

TEST(JsonTest, RefusesDeepNesting) {
  const auto nested = [](std::size_t levels) {
    return "{\"a\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(parse_json_object(nested(32), "test").ok());
  EXPECT_FALSE(parse_json_object(nested(33), "test").ok());
  EXPECT_FALSE(parse_json_object(std::string(10'000'000, '['), "test").ok());
  EXPECT_TRUE(parse_json_object("{\"a\":\"" + std::string(1000, '[') + "\\\"[\"}", "test").ok()) << "in a string";
}

TEST(JsonTest, FieldsHaveTypesAndRanges) {
  const Json json = parse(R"({"text":"x","int":-3,"uint":7,"large":18446744073709551615,"real":1.5,"yes":true,)"
                          R"("list":["a","b"],"mixed":["a",1],"object":{}})");
  EXPECT_EQ(string_field(json, "text").value_or(""), "x");
  EXPECT_EQ(int_field(json, "int").value_or(0), -3);
  EXPECT_EQ(uint_field(json, "uint").value_or(0), 7u);
  EXPECT_EQ(uint_field(json, "large").value_or(0), 18446744073709551615u);
  EXPECT_TRUE(bool_field(json, "yes").value_or(false));
  EXPECT_EQ(strings_field(json, "list").value_or({}), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(array_field(json, "mixed").ok());
  EXPECT_TRUE(object_field(json, "object").ok());

  EXPECT_FALSE(string_field(json, "int").ok());
  EXPECT_FALSE(int_field(json, "real").ok());
  EXPECT_FALSE(int_field(json, "large").ok());
  EXPECT_FALSE(int_field(json, "int", 0).ok());
  EXPECT_FALSE(int_field(json, "uint", 0, 6).ok());
  EXPECT_FALSE(uint_field(json, "int").ok());
  EXPECT_FALSE(uint_field(json, "uint", 6).ok());
  EXPECT_FALSE(bool_field(json, "uint").ok());
  EXPECT_FALSE(strings_field(json, "mixed").ok());
  EXPECT_FALSE(array_field(json, "object").ok());
  EXPECT_FALSE(object_field(json, "list").ok());
  EXPECT_FALSE(string_field(Json(1), "text").ok());
}

TEST(JsonTest, MessagesNameTheFieldAndWhatWasFound) {
  EXPECT_EQ(string_field(parse("{\"run\":5}"), "run").status().message(),
            "field \"run\": expected a string, found number");
  EXPECT_EQ(string_field(parse("{}"), "run").status().message(), "field \"run\": expected a string, found nothing");
}

TEST(JsonTest, WritingKeepsTheOrderAndSurvivesBadText) {
  EXPECT_EQ(dump_json({{"z", 1}, {"a", "\xFF"}}), "{\"z\":1,\"a\":\"\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace trainwarden::format
