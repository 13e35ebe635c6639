#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

Verdict verdict(const TestTensor& tensor, std::string_view spec = "NLPSequenceRatio") {
  TestRun run;
  run.add({.step = 0, .tensors = {tensor}});
  return judge(run, spec).at(0);
}

TestTensor sequence(std::vector<std::int64_t> tokens) {
  return kept_integers("embedding_input_0", std::move(tokens), {"embedding_inputs"});
}

TEST(NLPSequenceRatio, MoreThanHalfOfItIsPadding) {
  EXPECT_EQ(verdict(sequence({0, 0, 5, 6})).outcome, Outcome::kOk);  // the threshold itself
  const Verdict fired = verdict(sequence({0, 0, 0, 6}));
  ASSERT_EQ(fired.outcome, Outcome::kFired);
  EXPECT_EQ(fired.evidence.at(0).quantity, "percent_of_token_0");
  EXPECT_EQ(fired.evidence.at(0).value, 75);
  EXPECT_EQ(fired.evidence.at(0).tensor, "embedding_input_0");
}

TEST(NLPSequenceRatio, EachTokenHasItsOwnThreshold) {
  const std::string_view spec = "NLPSequenceRatio:token_values=\"1,2\",token_thresholds_percent=\"60,20\"";
  EXPECT_EQ(verdict(sequence({1, 1, 1, 2, 0}), spec).outcome, Outcome::kOk);
  const Verdict fired = verdict(sequence({1, 1, 1, 2, 2}), spec);
  ASSERT_EQ(fired.evidence.size(), 1u);
  EXPECT_EQ(fired.evidence[0].quantity, "percent_of_token_2");
}

TEST(NLPSequenceRatio, TheDocumentedPatternIsTakenToo) {
  EXPECT_EQ(verdict(kept("net_embedding0_input_0", {0, 0, 1})).outcome, Outcome::kFired);
}

TEST(NLPSequenceRatio, WhatIsNoSequenceIsNotJudged) {
  EXPECT_EQ(verdict(kept("w", {0})).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdict(reduced("e", {0}, {"embedding_inputs"})).outcome, Outcome::kNotApplicable);
}

TEST(NLPSequenceRatio, ListsOfDifferentLengthAreRefused) {
  for (const auto& [spec, message] :
       {std::pair("NLPSequenceRatio:token_values=\"1,2\"", "found 1 and 2"),
        std::pair("NLPSequenceRatio:token_values=,token_thresholds_percent=", "at least one"),
        std::pair("NLPSequenceRatio:token_values=pad", "expected numbers")}) {
    const auto parsed = parse_rule_spec(spec);
    ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
    const Status status = create_rule(*parsed).status();
    EXPECT_NE(status.message().find(message), std::string::npos) << status.to_string();
  }
}

}  // namespace
}  // namespace trainwarden::rules
