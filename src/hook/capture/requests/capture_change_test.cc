#include "hook/capture/requests/capture_change.h"

#include <gtest/gtest.h>

namespace trainwarden::capture {
namespace {

format::CaptureRequest request(std::string options) {
  return {.key = "k", .options = std::move(options)};
}

HookOptions opened_options() {
  HookOptions options;
  options.include_collections = {"weights"};
  options.include = {"relu"};
  options.collections = {{.name = "conv0", .include = {"^conv0"}, .keep = KeepForm::reduced()}};
  options.save = SavePolicy::every(10);
  return options;
}

class CaptureChange : public testing::Test {
 protected:
  CaptureState changed(const format::CaptureRequest& wanted) {
    const auto state = change_capture(now_, opened_, wanted);
    EXPECT_TRUE(state.ok()) << state.status().to_string();
    if (state.ok()) now_ = *state;
    return now_;
  }
  std::string refusal(const format::CaptureRequest& wanted) {
    const auto state = change_capture(now_, opened_, wanted);
    EXPECT_EQ(state.status().code(), Code::kInvalidArgument);
    return state.ok() ? "" : state.status().message();
  }

  const HookOptions opened_ = opened_options();
  CaptureState now_{opened_, true};
};

using Names = std::vector<std::string>;

TEST_F(CaptureChange, AddsCollectionsAndPatternsAndReplacesTheRest) {
  const CaptureState state =
      changed(request(R"({"include_collections": ["gradients", "weights"], "include": ["pool"], "budget": "2%",
                          "save": {"save_interval": 5}, "keep": {"values": false, "statistics": true}})"));
  EXPECT_EQ(state.options.include_collections, (Names{"weights", "gradients"}));
  EXPECT_EQ(state.options.include, (Names{"relu", "pool"}));
  EXPECT_EQ(state.options.budget, 0.02);
  EXPECT_EQ(state.options.save, SavePolicy::every(5));
  EXPECT_EQ(state.options.keep, KeepForm::reduced());
  EXPECT_EQ(state.options.collections, opened_.collections);
}

TEST_F(CaptureChange, ACollectionMayHaveItsOwnWay) {
  changed(request(R"({"collections": [{"name": "gradients", "save": {"save_interval": 1}}]})"));
  ASSERT_EQ(now_.options.collections.size(), 2u);
  EXPECT_EQ(now_.options.collections[1].name, "gradients");
  EXPECT_EQ((*now_.options.collections[1].save)[Mode::kTrain]->save_interval, 1);
}

TEST_F(CaptureChange, OnlyLeavesNothingElseAndKnowsTheDefinitions) {
  format::CaptureRequest only = request(R"({"include_collections": ["conv0"]})");
  only.only = true;
  changed(only);
  EXPECT_EQ(now_.options.collections, opened_.collections) << "as it was defined";
  EXPECT_TRUE(now_.options.include.empty());
  EXPECT_EQ(now_.options.include_collections, Names{"conv0"});
  EXPECT_FALSE(now_.declared_saved);

  only.options = "{}";
  changed(only);
  EXPECT_TRUE(now_.options.collections.empty());
  changed(request(R"({"include_collections": ["conv0"]})"));
  EXPECT_EQ(now_.options.collections, opened_.collections) << "as the hook was opened with it";

  format::CaptureRequest reset = request("{}");
  reset.reset = true;
  changed(reset);
  EXPECT_TRUE(now_.declared_saved);
  EXPECT_EQ(now_.options.include, opened_.include);
}

TEST_F(CaptureChange, ExcludesWhatIsAskedFor) {
  format::CaptureRequest exclude = request("{}");
  exclude.exclude_collections = {"weights", "conv0", "default"};
  changed(exclude);
  EXPECT_TRUE(now_.options.include_collections.empty());
  EXPECT_TRUE(now_.options.collections.empty());
  EXPECT_TRUE(now_.options.include.empty());
}

TEST_F(CaptureChange, RefusesWhatCannotBeExcludedAndSaysWhy) {
  format::CaptureRequest exclude = request("{}");
  exclude.exclude_collections = {"losses"};
  EXPECT_EQ(refusal(exclude), "collection \"losses\" is always captured");
  exclude.exclude_collections = {"wieghts"};
  EXPECT_EQ(
      refusal(exclude),
      "collection \"wieghts\" cannot be left out, as it is not asked for; did you mean \"weights\"?; what is asked "
      "for: conv0, default, weights");
}

TEST_F(CaptureChange, RefusesWhatCannotChangeAndWhatIsWrong) {
  EXPECT_EQ(refusal(request(R"({"rank": 1})")),
            "rank cannot be changed while the training goes on; what can: include_collections, include, collections, "
            "save_all, save, keep, budget");
  EXPECT_NE(refusal(request(R"({"budgett": 1})")).find("did you mean \"budget\"?"), std::string::npos);
  EXPECT_NE(refusal(request(R"({"budget": 7})")).find("options: budget: expected a share"), std::string::npos);
}

TEST_F(CaptureChange, AnEditedConfigurationMustKeepWhatCannotChange) {
  HookOptions after = opened_;
  EXPECT_TRUE(check_unchangeable(opened_, after).ok());
  after.staging_bytes = 1;
  EXPECT_NE(check_unchangeable(opened_, after).message().find("staging_bytes cannot be changed"), std::string::npos);
}

TEST_F(CaptureChange, TakesOverOnlyWhatWasEdited) {
  HookOptions after = opened_;
  after.include = {"pool"};
  HookOptions options;
  options.budget = 0.5;
  take_changes(opened_, after, options);
  EXPECT_EQ(options.include, Names{"pool"});
  EXPECT_EQ(options.budget, 0.5);
  EXPECT_TRUE(options.include_collections.empty());
}

}  // namespace
}  // namespace trainwarden::capture
