#include "ui/cli/running/rule_output.h"

#include <gtest/gtest.h>

#include "data/format/json.h"

namespace trainwarden::cli {
namespace {

using format::OrderedJson;

TEST(RuleOutput, EachRuleThatJudgedHasAReportWithTheKeysOfTheOriginal) {
  const auto reports = rule_reports_of(R"({"run": {}, "rules": [
      {"rule": "CPUBottleneck", "status": "fired", "message": "why", "advice": "what", "step_share": 0.5, "gain": null,
       "explained_by": null, "evidence": [{"quantity": "cpu", "value": 99}], "judgements": 30, "firings": 7,
       "episodes": 2, "parameters": {"threshold": "40", "patience": "100"}},
      {"rule": "Dataloader", "status": "insufficient_data", "message": "too short", "judgements": 0, "firings": 0,
       "episodes": 0, "parameters": {}}]})");
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  ASSERT_EQ(reports->size(), 1U);
  const OrderedJson report = OrderedJson::parse(reports->at("CPUBottleneck"));
  EXPECT_EQ(report.at("RuleTriggered"), 2);
  EXPECT_EQ(report.at("Violations"), 7);
  EXPECT_EQ(report.at("Datapoints"), 30);
  EXPECT_EQ(report.at("RuleParameters"), "threshold:40\npatience:100");
  EXPECT_EQ(report.at("Details").at("message"), "why");
  EXPECT_EQ(report.at("Details").at("evidence").at(0).at("value"), 99);
  EXPECT_EQ(report.size(), 5U);
}

TEST(RuleOutput, WhatIsNoProfileIsDamage) {
  EXPECT_EQ(rule_reports_of("{}").status().code(), Code::kDataLoss);
  EXPECT_EQ(rule_reports_of("no JSON").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden::cli
