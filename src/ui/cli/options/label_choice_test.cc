// Words on a run, as a variable for the program.
#include "ui/cli/options/label_choice.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(LabelChoiceTest, NothingSaidIsNothingSet) {
  EXPECT_EQ(LabelChoice().variables(environment_of({{"LR", "1"}})).value_or({{"?", "?"}}), Variables());
}

TEST(LabelChoiceTest, LabelsGoBeforeTheEnvironmentAndThatBeforeWhatWasThere) {
  const LabelChoice choice{.labels = {"lr=0.1", "note=a=b c"}, .env_params = {"LR", "BATCH"}};
  const auto variables = choice.variables(environment_of(
      {{"LR", "0.5"}, {"BATCH", "32"}, {"SECRET", "x"}, {"TRAINWARDEN_LABELS", R"({"lr":"1","who":"me"})"}}));
  EXPECT_EQ(variables.value_or({}),
            (Variables{{"TRAINWARDEN_LABELS", R"({"lr":"0.1","who":"me","LR":"0.5","BATCH":"32","note":"a=b c"})"}}));
}

TEST(LabelChoiceTest, WhatIsNotWellFormedIsNamed) {
  for (const char* text : {"lr", "=0.1", " =x", ""}) {
    const auto refused = LabelChoice{.labels = {text}, .env_params = {}}.variables(environment_of({}));
    EXPECT_EQ(refused.status().code(), Code::kInvalidArgument) << text;
    EXPECT_NE(refused.status().message().find("KEY=VALUE"), std::string::npos) << text;
  }
  const auto missing = LabelChoice{.labels = {}, .env_params = {"LR"}}.variables(environment_of({}));
  EXPECT_EQ(missing.status().code(), Code::kInvalidArgument);
  EXPECT_NE(missing.status().message().find("LR"), std::string::npos);
  const auto broken =
      LabelChoice{.labels = {"a=b"}, .env_params = {}}.variables(environment_of({{"TRAINWARDEN_LABELS", "[1]"}}));
  EXPECT_FALSE(broken.ok());
}

}  // namespace
}  // namespace trainwarden::cli
