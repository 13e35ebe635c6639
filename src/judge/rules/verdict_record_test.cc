#include "judge/rules/verdict_record.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

VerdictRecord sample() {
  VerdictRecord record;
  record.rule_id = "ExplodingTensor-2";
  record.rule = "ExplodingTensor";
  record.parameters = {{"only_nan", "True"}};
  record.place = {120, Mode::kTrain, 100};
  record.unix_ns = 1'700'000'000'000'000'000;
  record.verdict = {Outcome::kFired, Severity::kError, "a message", "some advice", {}};
  record.verdict.evidence.push_back({"w\xff%", "rank-00001", "nan_count", 3, 0, 120});
  record.verdict.evidence.push_back({"loss", "", "decrease_percent", std::nan(""), 0.1, 120});
  record.verdict.evidence.push_back({"loss", "", "x", -std::numeric_limits<double>::infinity(), 0.1, 119});
  return record;
}

void expect_equal(const Evidence& a, const Evidence& b) {
  EXPECT_EQ(a.tensor, b.tensor);
  EXPECT_EQ(a.worker, b.worker);
  EXPECT_EQ(a.quantity, b.quantity);
  EXPECT_TRUE(a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_EQ(a.global_step, b.global_step);
}

TEST(VerdictRecord, RoundTrip) {
  const VerdictRecord record = sample();
  const auto decoded = decode_verdict(encode_verdict(record));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  ASSERT_TRUE(decoded->has_value());
  const VerdictRecord& back = **decoded;
  EXPECT_EQ(back.rule_id, record.rule_id);
  EXPECT_EQ(back.rule, record.rule);
  EXPECT_EQ(back.parameters, record.parameters);
  EXPECT_EQ(back.place, record.place);
  EXPECT_EQ(back.unix_ns, record.unix_ns);
  EXPECT_EQ(back.verdict.outcome, record.verdict.outcome);
  EXPECT_EQ(back.verdict.severity, record.verdict.severity);
  EXPECT_EQ(back.verdict.message, record.verdict.message);
  EXPECT_EQ(back.verdict.advice, record.verdict.advice);
  ASSERT_EQ(back.verdict.evidence.size(), record.verdict.evidence.size());
  for (std::size_t i = 0; i < 3; ++i) expect_equal(back.verdict.evidence[i], record.verdict.evidence[i]);
}

TEST(RepeatsRecord, RoundTrip) {
  const auto decoded = decode_repeats(encode_repeats({"A", Outcome::kFired, 3, 9, 5, 77}));
  ASSERT_TRUE(decoded.ok() && decoded->has_value());
  EXPECT_EQ((*decoded)->rule_id, "A");
  EXPECT_EQ((*decoded)->first_step, 3);
  EXPECT_EQ((*decoded)->last_step, 9);
  EXPECT_EQ((*decoded)->count, 5u);
}

TEST(RuleStatusRecord, RoundTrip) {
  const auto decoded = decode_rule_status(
      encode_rule_status({"A-2", "A", {{"x", "1"}}, RuleStatus::kNotApplicable, "nothing", {0, 1, 2, 3, 4}, 77}));
  ASSERT_TRUE(decoded.ok() && decoded->has_value());
  EXPECT_EQ((*decoded)->status, RuleStatus::kNotApplicable);
  EXPECT_EQ((*decoded)->details, "nothing");
  EXPECT_EQ((*decoded)->outcomes, (OutcomeCounts{0, 1, 2, 3, 4}));
  EXPECT_EQ((*decoded)->parameters, (RuleParameters{{"x", "1"}}));
}

TEST(VerdictRecord, OtherTypesAreNone) {
  const std::string json = encode_verdict(sample());
  EXPECT_FALSE(decode_repeats(json)->has_value());
  EXPECT_FALSE(decode_rule_status(json)->has_value());
  EXPECT_FALSE(decode_verdict(R"({"type":"run_end"})")->has_value());
}

TEST(VerdictRecord, DamageIsDataLoss) {
  const std::string json = encode_verdict(sample());
  for (const char* field :
       {"\"id\"", "\"step\"", "\"outcome\"", "\"fired\"", "\"evidence\"", "\"quantity\"", "\"NaN\""}) {
    std::string damaged = json;
    damaged.replace(damaged.find(field) + 1, 1, "_");
    EXPECT_EQ(decode_verdict(damaged).status().code(), Code::kDataLoss) << field;
  }
  EXPECT_EQ(decode_verdict("{").status().code(), Code::kDataLoss);
  EXPECT_EQ(decode_verdict("[]").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden::rules
