#include "work/log_metrics/metric_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trainwarden::log_metrics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(MetricValue, NumbersAsProgramsPrintThem) {
  EXPECT_EQ(parse_metric_value("0.25"), 0.25);
  EXPECT_EQ(parse_metric_value(" -1.2e-05\t"), -1.2e-05);
  EXPECT_EQ(parse_metric_value("+3"), 3);
  EXPECT_EQ(parse_metric_value("1."), 1);
  EXPECT_EQ(parse_metric_value(".5"), 0.5);
  EXPECT_EQ(parse_metric_value("1E3"), 1000);
  EXPECT_EQ(parse_metric_value("inf"), kInfinity);
  EXPECT_EQ(parse_metric_value("-Infinity"), -kInfinity);
  ASSERT_TRUE(parse_metric_value("NaN").has_value());
  EXPECT_TRUE(std::isnan(*parse_metric_value("NaN")));
  EXPECT_TRUE(std::isnan(*parse_metric_value("nan")));
}

TEST(MetricValue, WhatIsNoNumberIsNone) {
  for (const char* text :
       {"", " ", ".", "-", "1.2.3", "0x1f", "1e999", "nan(1)", "loss", "1 2", "+-1", "12%", "1,234"}) {
    EXPECT_EQ(parse_metric_value(text), std::nullopt) << text;
  }
}

TEST(MetricValue, PercentAndThousandsWhenAskedFor) {
  EXPECT_EQ(parse_metric_value("12.5 %", {.percent = true}), 12.5);
  EXPECT_EQ(parse_metric_value("12.5", {.percent = true}), 12.5);
  EXPECT_EQ(parse_metric_value("%", {.percent = true}), std::nullopt);
  EXPECT_EQ(parse_metric_value("-1,234,567.5", {.thousands = true}), -1234567.5);
  EXPECT_EQ(parse_metric_value("12,345", {.thousands = true}), 12345);
  EXPECT_EQ(parse_metric_value("999", {.thousands = true}), 999);
  for (const char* text : {"1,23", "1234,567", ",123", "1,,234", "1,234,", "1.5,234", ","}) {
    EXPECT_EQ(parse_metric_value(text, {.thousands = true}), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace trainwarden::log_metrics
