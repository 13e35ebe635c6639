#include "work/log_metrics/lint.h"

#include <gtest/gtest.h>

#include "core/base/regex.h"

namespace trainwarden::log_metrics {
namespace {

DefinitionSet set_of(const std::vector<std::string>& regexes) {
  DefinitionSet set;
  for (const std::string& regex : regexes) {
    MetricDefinition definition;
    definition.name = "m" + std::to_string(set.definitions.size());
    definition.regex = regex;
    definition.place = "entry " + std::to_string(set.definitions.size());
    set.definitions.push_back(definition);
  }
  return set;
}

std::vector<std::string> codes_of(const std::vector<LintWarning>& warnings) {
  std::vector<std::string> codes;
  for (const LintWarning& warning : warnings) codes.push_back(warning.metric + " " + warning.code);
  return codes;
}

std::vector<std::string> codes_in(const std::vector<std::string>& regexes) {
  return codes_of(lint(set_of(regexes)));
}

using Codes = std::vector<std::string>;

// The four definitions of seed 002, as its notebook has them.
const std::vector<std::string> kSeed = {"loss: ([0-9\\.]+)", "accuracy: ([0-9\\.]+)", "val_loss: ([0-9\\.]+)",
                                        "val_accuracy: ([0-9\\.]+)"};

TEST(Lint, FindsTheDefectOfTheSeed) {
  const std::vector<LintWarning> warnings = lint(set_of(kSeed));
  EXPECT_EQ(codes_of(warnings), (Codes{"m0 METRIC_AMBIGUOUS", "m0 METRIC_NUMBERS", "m1 METRIC_AMBIGUOUS",
                                       "m1 METRIC_NUMBERS", "m2 METRIC_NUMBERS", "m3 METRIC_NUMBERS"}));
  EXPECT_EQ(warnings[0].message, "\"loss: \" also stands within \"val_loss: \", so that it takes values of m2");
  EXPECT_EQ(warnings[0].place, "entry 0");
  EXPECT_EQ(warnings[1].message,
            "the pattern does not find -0.5, reads 1.2e-05 as 1.2, does not find nan, does not find inf, catches "
            "\".\", which is no number");
}

TEST(Lint, WhatItSuggestsHasNoFault) {
  DefinitionSet set = set_of(kSeed);
  const std::vector<LintWarning> warnings = lint(set);
  for (const LintWarning& warning : warnings) {
    for (MetricDefinition& definition : set.definitions) {
      if (definition.name == warning.metric) definition.regex = warning.instead;
    }
  }
  EXPECT_EQ(codes_of(lint(set)), Codes{});
  const Result<Regex> loss = Regex::compile(set.definitions[0].regex);
  ASSERT_TRUE(loss.ok()) << loss.status().to_string();
  EXPECT_TRUE(loss->found_in("9s - loss: 0.5"));
  EXPECT_TRUE(loss->found_in("loss: -Inf"));
  for (const char* other : {"val_loss: 0.5", "val/loss: 0.5", "val-loss: 0.5", "val.loss: 0.5", "loss: ."}) {
    EXPECT_FALSE(loss->found_in(other)) << other;
  }
}

TEST(Lint, AStrictSetIsNotAmbiguous) {
  DefinitionSet set = set_of({"loss: (\\S+)", "val_loss: (\\S+)"});
  EXPECT_EQ(codes_of(lint(set)), Codes{"m0 METRIC_AMBIGUOUS"});
  set.strict = true;
  EXPECT_EQ(codes_of(lint(set)), Codes{});
}

TEST(Lint, APatternThatSaysWhereItBeginsIsNotAmbiguous) {
  EXPECT_EQ(codes_in({"\\bloss: (\\S+)", "train loss: (\\S+)"}), Codes{});
  EXPECT_EQ(codes_in({"loss: (\\S+)", "train loss: (\\S+)"}), Codes{});  // two words: the writer may mean it
  EXPECT_EQ(codes_in({".*loss: (\\S+)", "val_loss: (\\S+)"}), Codes{"m0 METRIC_AMBIGUOUS"});
}

TEST(Lint, SaysNothingOfPatternsThatItCannotRead) {
  EXPECT_EQ(codes_in({"(?:loss|perte): ([0-9.]+)", "epoch (\\d+), loss ([0-9.]+)"}), Codes{});
}

TEST(Lint, APatternWithoutAGroup) {
  const std::vector<LintWarning> warnings = lint(set_of({"loss: [0-9.]+", "[0-9.]+"}));
  EXPECT_EQ(codes_of(warnings), Codes{"m0 METRIC_NO_GROUP"});
  EXPECT_NE(warnings[0].message.find("begins with \"loss: \""), std::string::npos);
}

TEST(Lint, ASuggestionEscapesWhatIsSpecial) {
  const std::vector<LintWarning> warnings = lint(set_of({"\\[loss\\]=([0-9.]+)"}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].instead.find("\\[loss\\]="), 0u) << warnings[0].instead;
}

}  // namespace
}  // namespace trainwarden::log_metrics
