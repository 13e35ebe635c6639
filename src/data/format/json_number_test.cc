#include "data/format/json_number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::format {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(JsonNumber, WhatIsNotFiniteIsAText) {
  EXPECT_EQ(json_number(1.5), 1.5);
  EXPECT_EQ(json_number(std::nan("")), "NaN");
  EXPECT_EQ(json_number(kInfinity), "Infinity");
  EXPECT_EQ(json_number(-kInfinity), "-Infinity");
}

TEST(JsonNumber, IsReadBack) {
  for (const double value : {0.0, -1.5, 1e300, kInfinity, -kInfinity}) {
    EXPECT_EQ(number_field(Json{{"x", json_number(value)}}, "x").value_or(0.1), value);
  }
  EXPECT_TRUE(std::isnan(number_field(Json{{"x", "NaN"}}, "x").value_or(0)));
  EXPECT_EQ(number_field(Json{{"x", 3}}, "x").value_or(0), 3);
}

TEST(JsonNumber, AllElseIsDamage) {
  for (const Json& object : {Json::object(), Json{{"x", "nan"}}, Json{{"x", true}}, Json{{"x", nullptr}}}) {
    const Status status = number_field(object, "x").status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << object;
    EXPECT_NE(status.message().find("field \"x\": expected a number"), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace trainwarden::format
