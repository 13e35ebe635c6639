#include "work/document/document.h"

#include <gtest/gtest.h>

namespace trainwarden::document {
namespace {

using Kind = DocumentValue::Kind;

DocumentValue parsed(std::string_view text) {
  Result<DocumentValue> value = parse(text, "job");
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return value.value_or({});
}

const DocumentValue& field(const DocumentValue& table, std::string_view name) {
  for (const auto& [key, value] : table.fields) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no field " << name;
  return table;
}

TEST(Document, TomlAndJsonAreOneForm) {
  const std::string_view toml = "a = 'x'\nb = 3\nc = 0.5\nd = true\ne = [1, 'y']\n[f]\ng = 1979-05-27\n";
  const std::string_view json = R"({"a": "x", "b": 3, "c": 0.5, "d": true, "e": [1, "y"], "f": {"g": null}})";
  for (const std::string_view text : {toml, json}) {
    const DocumentValue top = parsed(text);
    ASSERT_TRUE(top.is(Kind::kTable));
    EXPECT_EQ(top.place, "job");
    EXPECT_EQ(field(top, "a").text, "x");
    EXPECT_TRUE(field(top, "b").is(Kind::kInteger));
    EXPECT_EQ(field(top, "b").integer, 3);
    EXPECT_EQ(field(top, "b").number, 3);
    EXPECT_TRUE(field(top, "c").is(Kind::kNumber));
    EXPECT_EQ(field(top, "c").number, 0.5);
    EXPECT_TRUE(field(top, "d").boolean);
    ASSERT_EQ(field(top, "e").items.size(), 2u);
    EXPECT_EQ(field(top, "e").items[1].text, "y");
    EXPECT_TRUE(field(field(top, "f"), "g").is(text == toml ? Kind::kOther : Kind::kNull));
  }
}

TEST(Document, EveryValueKnowsItsPlace) {
  const DocumentValue toml = parsed("a = 1\n[b]\nc = [\n 1,\n 2]\n");
  EXPECT_EQ(field(toml, "a").place, "job, line 1");
  EXPECT_EQ(field(field(toml, "b"), "c").items[1].place, "job, line 5");
  const DocumentValue json = parsed(R"({"a": 1, "b": {"c": [1, {"d": 2}]}})");
  EXPECT_EQ(field(json, "a").place, "job, a");
  EXPECT_EQ(field(field(json, "b"), "c").items[0].place, "job, b.c[1]");
  EXPECT_EQ(field(field(field(json, "b"), "c").items[1], "d").place, "job, b.c[2].d");
}

TEST(Document, AListCanBeTheTopInJson) {
  const DocumentValue list = parsed(" [{\"Name\": \"a\"}, 7] ");
  ASSERT_TRUE(list.is(Kind::kList));
  EXPECT_EQ(list.items[1].place, "job, [2]");
  EXPECT_TRUE(parsed("[]").is(Kind::kList));
  EXPECT_TRUE(parsed("[name]\na = 1").is(Kind::kTable));
  EXPECT_TRUE(parsed("").is(Kind::kTable));
}

TEST(Document, WhatIsNeitherIsRefused) {
  for (const char* text : {"{\"a\": 1", "[{}], \"b\": [1", "[{}] 7", "[{}], \"list\": [{}]", "{\"a\": 1, \"a\": 2}",
                           "= 3", "a = ", "a = 1\na = 2"}) {
    const Result<DocumentValue> value = parse(text, "job");
    EXPECT_EQ(value.status().code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(value.status().message().find("job"), 0u) << value.status().message();
  }
  EXPECT_EQ(parse("[{}], \"b\": [1]", "job").status().code(), Code::kInvalidArgument);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_EQ(parse(deep, "job").status().code(), Code::kInvalidArgument);
}

TEST(Document, NumbersBeyondAnIntegerAreNumbers) {
  const DocumentValue json = parsed(R"({"a": 18446744073709551615, "b": -9223372036854775808})");
  EXPECT_TRUE(field(json, "a").is(Kind::kNumber));
  EXPECT_TRUE(field(json, "b").is(Kind::kInteger));
}

TEST(Document, PlacesDoNotDriveTheTerminal) {
  const DocumentValue json = parsed("{\"a\\u001b[2J\": 1}");
  EXPECT_EQ(json.fields.at(0).value.place, "job, a\\x1B[2J");
}

}  // namespace
}  // namespace trainwarden::document
