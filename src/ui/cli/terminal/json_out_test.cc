#include "ui/cli/terminal/json_out.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

TEST(JsonOut, NamesWhatJsonHasNoNumberFor) {
  EXPECT_EQ(to_text(json_number(1.5)), "1.5");
  EXPECT_EQ(to_text(json_number(std::numeric_limits<double>::quiet_NaN())), "\"NaN\"");
  EXPECT_EQ(to_text(json_number(std::numeric_limits<double>::infinity())), "\"Infinity\"");
  EXPECT_EQ(to_text(json_number(-std::numeric_limits<double>::infinity())), "\"-Infinity\"");
}

TEST(JsonOut, KeepsTheOrderOfKeys) {
  EXPECT_EQ(OrderedJson({{"b", 1}, {"a", 2}}).dump(), R"({"b":1,"a":2})");
}

TEST(JsonOut, BrokenUtf8DoesNotThrow) {
  EXPECT_EQ(to_text(OrderedJson{{"name", std::string("a\xff") + "b"}}),
            "{\n  \"name\": \"a\xef\xbf\xbd"
            "b\"\n}");
}

TEST(JsonOut, AnEmptyTensorHasNoMean) {
  const OrderedJson json = json_of(Statistics{});
  EXPECT_EQ(json.at("count"), 0);
  EXPECT_EQ(json.at("mean"), "NaN");
}

TEST(JsonOut, AScalarsShapeIsAnEmptyList) {
  EXPECT_EQ(json_of(Shape{}).dump(), "[]");
  EXPECT_EQ(json_of(Shape{2, 3}).dump(), "[2,3]");
}

}  // namespace
}  // namespace trainwarden::cli
