#include "tune/optuna/python_json.h"

#include <gtest/gtest.h>

#include "tune/optuna/distribution.h"
#include "tune/optuna/python_time.h"

namespace trainwarden::tune {
namespace {

TEST(PythonJsonTest, QuotesWhatIsNoJsonOutsideOfTexts) {
  EXPECT_EQ(quoted_numbers(R"({"a": NaN, "b": [-Infinity, Infinity], "NaN": "a \" NaN"})"),
            R"({"a": "NaN", "b": ["-Infinity", "Infinity"], "NaN": "a \" NaN"})");
  EXPECT_EQ(quoted_numbers("\"open NaN"), "\"open NaN");
  EXPECT_EQ(quoted_numbers("\"\\"), "\"\\");
}

TEST(PythonTimeTest, KnowsOffsetsAndFractions) {
  EXPECT_EQ(*python_local_time("2026-11-27T13:38:13.250000+00:00"), 1795786693250000000);
  EXPECT_EQ(*python_local_time("2026-11-27T14:38:13+01:00"), 1795786693000000000);
  EXPECT_TRUE(python_local_time("2026-11-27 13:38:13.5").ok());
  for (const char* wrong : {"", "now", "2026-11-27", "2026-11-27 13:38:13 and", "0001-01-01 00:00:00"}) {
    EXPECT_EQ(python_local_time(wrong).status().code(), Code::kDataLoss) << wrong;
  }
}

TEST(DistributionTest, KnowsTheNamesOfAllVersions) {
  const auto range = [](const char* text) { return parameter_of_distribution("x", text); };
  EXPECT_TRUE(range(R"({"name": "LogUniformDistribution", "attributes": {"low": 1, "high": 2}})")->log);
  EXPECT_EQ(range(R"({"name": "DiscreteUniformDistribution", "attributes": {"low": 0, "high": 1, "q": 0.5}})")->step,
            0.5);
  const auto whole = range(R"({"name": "IntUniformDistribution", "attributes": {"low": 0, "high": 6, "step": 2}})");
  EXPECT_EQ(whole->kind, ParameterKind::kInteger);
  EXPECT_EQ(whole->step, 2);
  const auto choice = range(R"({"name": "CategoricalDistribution", "attributes": {"choices": [null, true, 1, "b"]}})");
  EXPECT_EQ(choice->choices, (std::vector<TriedValue>{"None", true, std::int64_t{1}, "b"}));
}

TEST(DistributionTest, WhatIsNoneIsDataLoss) {
  for (const char* text : {
           "",
           "[]",
           "{}",
           R"({"name": "Other", "attributes": {}})",
           R"({"name": "FloatDistribution", "attributes": {"low": 0}})",
           R"({"name": "FloatDistribution", "attributes": {"low": 2, "high": 1}})",
           R"({"name": "FloatDistribution", "attributes": {"low": NaN, "high": 1}})",
           R"({"name": "CategoricalDistribution", "attributes": {"choices": [[1]]}})",
           R"({"name": "CategoricalDistribution", "attributes": {"choices": []}})",
           R"({"name": "CategoricalDistribution", "attributes": {"choices": ["a", "a"]}})",
       }) {
    EXPECT_EQ(parameter_of_distribution("x", text).status().code(), Code::kDataLoss) << text;
  }
  OptunaTrial trial;
  const char* choices = R"({"name": "CategoricalDistribution", "attributes": {"choices": ["a", "b"]}})";
  for (const double value : {-1.0, 2.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(add_parameter(trial, "x", value, choices).code(), Code::kDataLoss) << value;
  }
  EXPECT_TRUE(add_parameter(trial, "x", 1, choices).ok());
}

}  // namespace
}  // namespace trainwarden::tune
