#include "ui/cli/options/rule_choice.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

using Specs = std::vector<std::string>;

Specs specs_of(const RuleChoice& choice) {
  const auto specs = choice.specs();
  EXPECT_TRUE(specs.ok()) << specs.status().to_string();
  return specs.value_or({});
}

class RuleFile {
 public:
  explicit RuleFile(const std::string& text) { std::ofstream(path_) << text; }
  ~RuleFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_ =  // tests run side by side, each in a process of its own
      std::filesystem::temp_directory_path() / ("trainwarden_rule_choice_test_" + std::to_string(::getpid()));
};

TEST(RuleChoiceTest, TheDefaultSetIsWhatTheRulesSay) {
  const Specs specs = specs_of({.sets = {"default"}});
  for (const RuleKind& kind : builtin_rules()) {
    const std::string& name = kind.description.name;
    EXPECT_EQ(std::find(specs.begin(), specs.end(), name) != specs.end(), kind.description.by_default) << name;
  }
  EXPECT_FALSE(specs.empty());
}

TEST(RuleChoiceTest, TheProfilersSetIsWhatTheRulesSay) {
  const Specs specs = specs_of({.sets = {"profiler"}});
  for (const RuleKind& kind : builtin_rules()) {
    const std::string& name = kind.description.name;
    EXPECT_EQ(std::find(specs.begin(), specs.end(), name) != specs.end(), kind.description.profiles) << name;
  }
}

TEST(RuleChoiceTest, SageMakersSetHasItsThresholds) {
  const Specs specs = specs_of({.sets = {"sagemaker"}});
  EXPECT_NE(std::find(specs.begin(), specs.end(), "VanishingGradient"), specs.end());
  EXPECT_NE(std::find(specs.begin(), specs.end(), "ExplodingTensor:allow_masks=False"), specs.end());
  EXPECT_EQ(std::find(specs.begin(), specs.end(), "Diagnosis"), specs.end()) << "it is ours";
  EXPECT_TRUE(RuleChoice{.sets = {"sagemaker"}}.create().ok());
}

TEST(RuleChoiceTest, AllSaysWhyItIsGone) {
  EXPECT_FALSE(is_rule_set("all"));
  EXPECT_NE(RuleChoice{.sets = {"all"}}.specs().status().message().find("is no set any more"), std::string::npos);
}

TEST(RuleChoiceTest, ARuleThatIsNamedGoesBeforeThatOfTheSet) {
  const Specs specs = specs_of({.rules = {"exploding_tensor:only_nan=True"}, .sets = {"default"}});
  EXPECT_EQ(std::count(specs.begin(), specs.end(), "ExplodingTensor"), 0);
  EXPECT_EQ(specs.back(), "exploding_tensor:only_nan=True");
}

TEST(RuleChoiceTest, AFileHasARuleInEachLine) {
  const RuleFile file("# mine\n\nVanishingGradient:threshold=1\n  ExplodingTensor  \n");
  EXPECT_EQ(specs_of({.sets = {file.path()}}), (Specs{"VanishingGradient:threshold=1", "ExplodingTensor"}));
}

TEST(RuleChoiceTest, MistakesSayWhatWasExpected) {
  const auto missing = RuleChoice{.sets = {"defualt"}}.specs();
  EXPECT_NE(missing.status().message().find("expected \"default\", \"sagemaker\", \"profiler\" or a file"),
            std::string::npos);
  const RuleFile empty("# nothing\n");
  EXPECT_NE(RuleChoice{.sets = {empty.path()}}.specs().status().message().find("no rule in this file"),
            std::string::npos);
  EXPECT_NE(RuleChoice{}.create_some().status().message().find("--rules default"), std::string::npos);
  EXPECT_EQ(RuleChoice{.rules = {"Nonsense"}}.create().status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::cli
