#include "hook/capture/capture_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace trainwarden::capture {
namespace {

std::unique_ptr<CapturePlan> plan_of(const HookOptions& options) {
  auto plan = CapturePlan::resolve(options);
  EXPECT_TRUE(plan.ok()) << plan.status().to_string();
  return plan.ok() ? *std::move(plan) : nullptr;
}

std::string error_of(const HookOptions& options) {
  const auto plan = CapturePlan::resolve(options);
  EXPECT_EQ(plan.status().code(), Code::kInvalidArgument);
  return plan.status().message();
}

HookOptions every_step() {
  HookOptions options;
  options.save = SavePolicy::every(1);
  return options;
}

TEST(CapturePlan, OnlyLossesAreSavedWhenNothingIsAskedFor) {
  const auto plan = plan_of(every_step());
  EXPECT_EQ(plan->membership_of("CrossEntropyLoss_output_0").form_now(), kValuesBit);
  EXPECT_EQ(plan->membership_of("conv0.weight").form_now(), 0);
  EXPECT_EQ(plan->membership_of("gradient/conv0.weight").form_now(), 0);
}

TEST(CapturePlan, IncludeByNamePatternAndAll) {
  HookOptions options = every_step();
  options.include_collections = {"weights"};
  options.include = {"relu"};
  const auto plan = plan_of(options);
  EXPECT_NE(plan->membership_of("conv0.weight").form_now(), 0);
  EXPECT_NE(plan->membership_of("relu_output_0").form_now(), 0);
  EXPECT_EQ(plan->membership_of("conv0.bias").form_now(), 0);

  HookOptions everything = every_step();
  everything.save_all = true;
  EXPECT_NE(plan_of(everything)->membership_of("anything at all").form_now(), 0);
}

TEST(CapturePlan, ACollectionMayNameItsTensors) {
  HookOptions options = every_step();
  options.collections = {{.name = "two", .tensor_names = {"a", "b"}}};
  const auto plan = plan_of(options);
  EXPECT_NE(plan->membership_of("a").form_now(), 0);
  EXPECT_EQ(plan->membership_of("ab").form_now(), 0);
}

// {"name": "gradients", "save": ...} means the built-in members with another schedule.
TEST(CapturePlan, ABuiltinCollectionGivenByNameAloneKeepsItsMembers) {
  HookOptions options;
  options.collections = {{.name = "gradients", .save = SavePolicy::every(2)}};
  const auto plan = plan_of(options);
  const Membership& gradients = plan->membership_of("gradient/fc.weight");
  plan->begin_step(Mode::kTrain, 2);
  EXPECT_EQ(gradients.form_now(), kValuesBit);
  plan->begin_step(Mode::kTrain, 3);
  EXPECT_EQ(gradients.form_now(), 0);
}

TEST(CapturePlan, SchedulesFollowTheModesOwnStep) {
  HookOptions options;
  options.include = {"x"};
  options.save[Mode::kTrain] = SaveSchedule{.save_interval = 3, .start_step = 4, .end_step = 10};
  options.save[Mode::kEval] = SaveSchedule{.end_step = 0, .save_steps = {2}};
  const auto plan = plan_of(options);
  const Membership& x = plan->membership_of("x");
  std::vector<std::int64_t> saved;
  for (std::int64_t step = 0; step < 20; ++step) {
    plan->begin_step(Mode::kTrain, step);
    EXPECT_EQ(plan->anything_wanted(), x.form_now() != 0);
    if (x.form_now() != 0) saved.push_back(step);
  }
  EXPECT_EQ(saved, (std::vector<std::int64_t>{6, 9}));
  plan->begin_step(Mode::kEval, 2);
  EXPECT_NE(x.form_now(), 0);
  plan->begin_step(Mode::kEval, 0);
  EXPECT_EQ(x.form_now(), 0);
  plan->begin_step(Mode::kPredict, 500);
  EXPECT_NE(x.form_now(), 0) << "a mode without a schedule has the default one";
}

TEST(CapturePlan, FormsOfSeveralCollectionsUnite) {
  HookOptions options = every_step();
  options.collections = {
      {.name = "reduced", .include = {"conv"}, .keep = KeepForm::reduced()},
      {.name = "hashed", .include = {"weight"}, .keep = KeepForm{.values = false, .hash = true}},
      {.name = "shaped", .include = {"fc"}, .keep = KeepForm{.values = false, .shape = true}},
  };
  const auto plan = plan_of(options);
  EXPECT_EQ(plan->membership_of("conv.bias").form_now(), kStatisticsBit);
  EXPECT_EQ(plan->membership_of("conv.weight").form_now(), kStatisticsBit | kHashBit);
  EXPECT_EQ(plan->membership_of("fc.bias").form_now(), kShapeBit);
}

TEST(CapturePlan, LossesAreAlwaysValues) {
  HookOptions options = every_step();
  options.keep = KeepForm::reduced();
  EXPECT_EQ(plan_of(options)->membership_of("loss_output_0").form_now(), kValuesBit);
}

TEST(CapturePlan, GradientsAndOptimizerStateOnlyWhileTraining) {
  HookOptions options = every_step();
  options.save_all = true;
  const auto plan = plan_of(options);
  for (const std::string_view name : {"gradient/a.weight", "optimizer_state/a.weight/exp_avg"}) {
    const Membership& membership = plan->membership_of(name);
    for (const Mode mode : kAllModes) {
      plan->begin_step(mode, 0);
      EXPECT_EQ(membership.form_now() != 0, mode == Mode::kTrain || mode == Mode::kGlobal) << name;
    }
  }
  plan->begin_step(Mode::kEval, 0);
  EXPECT_NE(plan->membership_of("a.weight").form_now(), 0);
  EXPECT_FALSE(plan->wants_collection("gradients"));
  EXPECT_TRUE(plan->wants_collection("weights"));
}

TEST(CapturePlan, IncludingAllSavesEveryCollection) {
  HookOptions options;
  options.include_collections = {"all"};
  const auto plan = plan_of(options);
  const auto collections = plan->collections();
  EXPECT_TRUE(std::all_of(collections.begin(), collections.end(),
                          [](const Collection& collection) { return collection.save.has_value(); }));
}

// Every collection is then saved; the patterns say what else.
TEST(CapturePlan, AllWithPatternsOfItsOwnKeepsThem) {
  HookOptions options = every_step();
  options.collections = {{.name = "all", .include = {"attention"}}};
  const auto plan = plan_of(options);
  EXPECT_NE(plan->membership_of("attention0_output").form_now(), 0);
  EXPECT_NE(plan->membership_of("conv.weight").form_now(), 0);
  EXPECT_EQ(plan->membership_of("something else").form_now(), 0);
}

TEST(CapturePlan, DeclaredCollectionsAreCreatedAndSaved) {
  const auto plan = plan_of(every_step());
  const std::string_view wanted[] = {"mine", "weights"};
  const Membership& membership = plan->with_collections(plan->membership_of("x"), wanted);
  EXPECT_EQ(membership.form_now(), kValuesBit);
  EXPECT_EQ(plan->names_of(membership), (std::vector<std::string>{"all", "mine", "weights"}));
  EXPECT_EQ(plan->membership_of("y").form_now(), 0);
  EXPECT_TRUE(plan->wants_collection("mine"));
}

TEST(CapturePlan, WantsCollectionKnowsItsTensors) {
  HookOptions options = every_step();
  options.include = {"conv0"};
  const auto plan = plan_of(options);
  EXPECT_FALSE(plan->wants_collection("weights"));
  plan->membership_of("conv0.weight");
  EXPECT_TRUE(plan->wants_collection("weights"));
  EXPECT_FALSE(plan->wants_collection("no such"));
}

TEST(CapturePlan, TheManifestHasThePolicyOfWhatIsSaved) {
  HookOptions options = every_step();
  options.collections = {{.name = "mine", .include = {"x"}, .keep = KeepForm::reduced()}};
  for (const Collection& collection : plan_of(options)->collections()) {
    const bool saved = collection.name == "mine" || collection.name == "losses" || collection.name == "scalars";
    EXPECT_EQ(collection.save.has_value(), saved) << collection.name;
    if (!saved) continue;
    EXPECT_EQ(*collection.keep, collection.name == "mine" ? KeepForm::reduced() : KeepForm::whole());
  }
}

Collection need(std::string name, std::int64_t interval, const KeepForm& keep) {
  return {.name = std::move(name), .save = SavePolicy::every(interval), .keep = keep};
}

TEST(CapturePlan, NeedsJoinWhatTheUserAskedFor) {
  HookOptions options;
  options.collections = {need("gradients", 10, KeepForm::whole())};
  options.needs = {need("gradients", 2, KeepForm::reduced()),
                   need("gradients", 3, {.values = false, .statistics = true, .hash = true})};
  const auto plan = plan_of(options);
  const Membership& gradient = plan->membership_of("gradient/a");
  const auto form_at = [&](std::int64_t step) {
    plan->begin_step(Mode::kTrain, step);
    return gradient.form_now();
  };
  EXPECT_EQ(form_at(1), 0);
  EXPECT_EQ(form_at(2), kStatisticsBit);
  EXPECT_EQ(form_at(3), kStatisticsBit | kHashBit);
  EXPECT_EQ(form_at(10), kValuesBit | kStatisticsBit);
  EXPECT_EQ(plan->next_wanted_step(gradient), 10);
  plan->begin_step(Mode::kTrain, 11);
  EXPECT_EQ(plan->next_wanted_step(gradient), 12);
  EXPECT_EQ(plan->demand().save_interval, 2);
  EXPECT_EQ(plan->membership_of("conv0.weight").form_now(), 0) << "what nobody needs is not kept";
}

TEST(CapturePlan, ANeedDefinesTheCollectionThatNobodyKnows) {
  HookOptions options;
  options.needs = {need("mine", 1, KeepForm::reduced())};
  options.needs[0].include = {"relu"};
  const auto plan = plan_of(options);
  EXPECT_EQ(plan->membership_of("relu_output_0").form_now(), kStatisticsBit);
  EXPECT_TRUE(plan->wants_collection("mine"));
}

TEST(CapturePlan, ANeedOfAKindIsMetByWhatIsDeclaredOfIt) {
  HookOptions options;
  options.needs = {need("relu_outputs", 1, KeepForm::reduced())};
  const auto plan = plan_of(options);
  constexpr std::string_view kCollections[] = {"outputs", "relu_outputs"};
  const Membership& relu = plan->with_collections(plan->membership_of("act_output_0"), kCollections);
  EXPECT_EQ(relu.form_now(), kStatisticsBit);
  EXPECT_EQ(plan->membership_of("other_output_0").form_now(), 0);
}

TEST(CapturePlan, BadNeeds) {
  HookOptions options;
  options.needs = {need("mine", 1, KeepForm::reduced())};
  options.needs[0].include = {"("};
  EXPECT_NE(error_of(options).find("need of collection \"mine\""), std::string::npos) << error_of(options);
  options.needs = {need("mine", 0, KeepForm::reduced())};
  EXPECT_NE(error_of(options).find("save_interval must be at least 1"), std::string::npos);
}

TEST(CapturePlan, BadCollections) {
  HookOptions options;
  options.include_collections = {"weigths"};
  EXPECT_NE(error_of(options).find("\"weigths\""), std::string::npos);
  EXPECT_NE(error_of(options).find("did you mean \"weights\"?"), std::string::npos);

  options = HookOptions();
  options.collections = {{.name = "empty"}};
  EXPECT_EQ(error_of(options), "collection \"empty\" can match nothing; give it include or tensor_names");
  options.collections = {{.name = "a", .include = {"x"}}, {.name = "a", .include = {"y"}}};
  EXPECT_EQ(error_of(options), "collection \"a\" is given twice; merge the two");
  options.collections = {{.include = {"x"}}};
  EXPECT_EQ(error_of(options), "a collection has no name");
  options.collections = {{.name = "bad", .include = {"a("}}};
  EXPECT_NE(error_of(options).find("collection \"bad\": pattern \"a(\" does not compile"), std::string::npos)
      << error_of(options);
}

TEST(CapturePlan, BadPoliciesAndForms) {
  HookOptions options;
  options.save = SavePolicy::every(0);
  EXPECT_EQ(error_of(options), "save: train: save_interval must be at least 1, not 0");
  options = HookOptions();
  options.collections = {{.name = "a", .include = {"x"}, .save = SavePolicy::of(SaveSchedule{.start_step = -1})}};
  EXPECT_EQ(error_of(options), "collection \"a\": train: start_step must be at least 0, not -1");
  options.collections = {{.name = "a", .include = {"x"}, .keep = KeepForm{.values = false}}};
  EXPECT_EQ(error_of(options), "collection \"a\": nothing is kept; choose a form in keep");
  options = HookOptions();
  options.keep = KeepForm{.values = false};
  EXPECT_EQ(error_of(options), "keep: nothing is kept; choose a form");
}

TEST(CapturePlan, ABudgetLeavesOutStepsAndForms) {
  HookOptions options = every_step();
  options.save[Mode::kGlobal]->save_interval = 2;
  options.save[Mode::kGlobal]->save_steps = {5};
  options.include_collections = {"weights"};
  options.keep = KeepForm{.values = true, .statistics = false, .hash = true};
  const auto plan = plan_of(options);
  const Membership& weight = plan->membership_of("conv.weight");
  const Membership& loss = plan->membership_of("loss_output_0");
  const Restraint restraint{.interval_factor = 4, .dropped = kValuesBit | kHashBit};

  plan->begin_step(Mode::kGlobal, 4, restraint);
  EXPECT_EQ(weight.form_now(), 0);
  EXPECT_EQ(loss.form_now(), kValuesBit) << "losses have a factor of their own";
  EXPECT_TRUE(plan->anything_wanted());
  EXPECT_EQ(plan->demand(), (StepDemand{false, false, true, false, false, 2, kValuesBit | kStatisticsBit | kHashBit}));
  EXPECT_EQ(plan->next_wanted_step(weight), 5);
  EXPECT_EQ(plan->next_wanted_step(loss), 4);

  plan->begin_step(Mode::kGlobal, 5, restraint);
  EXPECT_EQ(weight.form_now(), kValuesBit | kStatisticsBit | kHashBit) << "neither are listed steps";
  EXPECT_TRUE(plan->demand().listed);
  EXPECT_EQ(plan->next_wanted_step(weight), 5);

  plan->begin_step(Mode::kGlobal, 8, restraint);
  EXPECT_EQ(weight.form_now(), kStatisticsBit) << "values leave their statistics behind";
  EXPECT_TRUE(plan->demand().wanted);
}

TEST(CapturePlan, ABudgetStretchesLossesByAFactorOfTheirOwn) {
  HookOptions options;
  options.save = SavePolicy::every(1);
  options.include_collections = {"weights"};
  const auto plan = plan_of(options);
  const Membership& weight = plan->membership_of("conv.weight");
  const Membership& loss = plan->membership_of("loss_output_0");
  const Restraint restraint{.interval_factor = 6, .losses_factor = 4};
  std::vector<std::int64_t> weights;
  std::vector<std::int64_t> losses;
  for (std::int64_t step = 0; step < 13; ++step) {
    plan->begin_step(Mode::kGlobal, step, restraint);
    if (weight.form_now() != 0) weights.push_back(step);
    if (loss.form_now() != 0) losses.push_back(step);
    EXPECT_EQ(plan->demand().losses, loss.form_now() != 0);
  }
  EXPECT_EQ(weights, (std::vector<std::int64_t>{0, 6, 12}));
  EXPECT_EQ(losses, (std::vector<std::int64_t>{0, 4, 6, 8, 12})) << "a step that is kept is kept with its losses";
}

TEST(CapturePlan, ABudgetStretchesSignalsByAnotherFactorThanLosses) {
  HookOptions options;
  options.save = SavePolicy::every(1);
  options.include_collections = {"weights", "signals"};
  const auto plan = plan_of(options);
  const Membership& loss = plan->membership_of("loss_output_0");
  constexpr std::string_view kOfASignal[] = {"signals"};
  const Membership& signal = plan->with_collections(plan->membership_of("trainwarden/x"), kOfASignal);
  std::vector<std::int64_t> signals;
  for (std::int64_t step = 0; step < 13; ++step) {
    plan->begin_step(Mode::kGlobal, step, {.interval_factor = 6, .signals_factor = 4});
    EXPECT_NE(loss.form_now(), 0) << step;
    EXPECT_EQ(plan->only_losses_wanted(), signal.form_now() == 0) << step;
    EXPECT_EQ(plan->demand().signals, signal.form_now() != 0) << step;
    if (signal.form_now() != 0) signals.push_back(step);
  }
  EXPECT_EQ(signals, (std::vector<std::int64_t>{0, 4, 6, 8, 12}));
}

TEST(CapturePlan, WithoutSignalsLossesAreNotSaidToBeAllThatIsWanted) {
  HookOptions options;
  options.save = SavePolicy::every(1);
  options.include_collections = {"losses"};
  const auto plan = plan_of(options);
  plan->begin_step(Mode::kGlobal, 1);
  EXPECT_TRUE(plan->anything_wanted());
  EXPECT_FALSE(plan->only_losses_wanted());
}

// However many idle steps are passed, each question is answered as of the step that it is.
TEST(CapturePlan, IdleStepsArePassedUpToTheOneBeforeSomethingIsWanted) {
  HookOptions options;
  options.save = SavePolicy::every(10);
  options.include_collections = {"weights"};
  const auto plan = plan_of(options);
  plan->begin_step(Mode::kGlobal, 0);
  EXPECT_FALSE(plan->pass_idle_step()) << "the step itself is wanted";
  plan->begin_step(Mode::kGlobal, 1);
  for (int step = 1; step < 9; ++step) EXPECT_TRUE(plan->pass_idle_step()) << step;
  EXPECT_FALSE(plan->pass_idle_step()) << "step 10 is wanted";
  EXPECT_EQ(plan->next_wanted_step(plan->membership_of("conv.weight")), 10);

  plan->begin_step(Mode::kGlobal, 11);
  ASSERT_TRUE(plan->pass_idle_step());
  constexpr std::string_view kMine[] = {"mine"};
  EXPECT_EQ(plan->with_collections(plan->membership_of("x"), kMine).form_now(), 0) << "this is step 12";
  EXPECT_FALSE(plan->pass_idle_step()) << "a new collection may want the next step";
}

TEST(CapturePlan, WhatIsNeededFromNowOnEndsAnIdleStretch) {
  HookOptions options;
  options.save = SavePolicy::every(100);
  options.include_collections = {"weights"};
  const auto plan = plan_of(options);
  const auto wanted_at = [&](std::int64_t step, const Restraint& restraint = {}) {
    plan->begin_step(Mode::kGlobal, step, restraint);
    return plan->anything_wanted();
  };
  EXPECT_FALSE(wanted_at(1));
  EXPECT_FALSE(wanted_at(2));
  ASSERT_TRUE(plan->require({need("gradients", 1, KeepForm::reduced())}, true).ok());
  EXPECT_TRUE(wanted_at(3)) << "a rule that came in between";
  EXPECT_FALSE(wanted_at(5, {.interval_factor = 4}));
  EXPECT_TRUE(wanted_at(6)) << "the budget has room again";
  plan->change(*plan_of(every_step()), false);
  ASSERT_TRUE(plan->require({}, true).ok());
  EXPECT_TRUE(wanted_at(7)) << "somebody asked for other collections";
}

TEST(CapturePlan, TheLastStepThatHasANumberIsOneLikeOthers) {
  HookOptions options;
  options.save = SavePolicy::every(500);
  const auto plan = plan_of(options);
  plan->begin_step(Mode::kGlobal, std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(plan->pass_idle_step());
  EXPECT_FALSE(plan->anything_wanted());
}

TEST(CapturePlan, UnderABudgetASampledBlackBoxHoldsStepsAtAnIntervalOfItsOwn) {
  HookOptions options;
  options.save = SavePolicy::every(1);
  options.save[Mode::kGlobal]->end_step = 0;
  options.black_box.steps = 3;
  options.black_box.collections = {"weights"};
  const auto whole = plan_of(options);
  const auto plan = plan_of(options);
  plan->sample_black_box();
  const Membership& weight = plan->membership_of("conv.weight");
  for (std::int64_t step = 0; step < 9; ++step) {
    whole->begin_step(Mode::kGlobal, step, {.box_factor = 4});
    EXPECT_TRUE(whole->fills_black_box()) << "what somebody asked for holds each step";
    EXPECT_FALSE(whole->demand().boxed);
    plan->begin_step(Mode::kGlobal, step, {.box_factor = 4});
    EXPECT_EQ(weight.form_now() != 0, step % 4 == 0) << step;
    EXPECT_EQ(plan->fills_black_box(), step % 4 == 0) << step;
    EXPECT_EQ(plan->demand().boxed, step % 4 == 0) << step;
    EXPECT_EQ(plan->next_wanted_step(weight), (step + 3) / 4 * 4);
  }
}

TEST(CapturePlan, AChangeTakesOverCollectionsAndKeepsWhatTheProgramDeclared) {
  HookOptions options = every_step();
  options.include_collections = {"weights"};
  const auto plan = plan_of(options);
  const std::string_view mine[] = {"mine"};
  const Membership& weight = plan->membership_of("conv.weight");
  const Membership& declared = plan->with_collections(plan->membership_of("x"), mine);
  EXPECT_NE(declared.form_now(), 0);

  HookOptions other = every_step();
  other.include_collections = {"gradients"};
  other.collections = {{.name = "x only", .tensor_names = {"x"}}};
  plan->change(*plan_of(other), true);
  plan->begin_step(Mode::kGlobal, 1);
  EXPECT_EQ(plan->membership_after_change(weight, "conv.weight").form_now(), 0);
  const Membership& x = plan->membership_after_change(declared, "x");
  EXPECT_EQ(plan->names_of(x), (std::vector<std::string>{"all", "mine", "x only"}));
  EXPECT_NE(x.form_now(), 0);

  plan->change(*plan_of(every_step()), false);
  plan->begin_step(Mode::kGlobal, 2);
  EXPECT_EQ(plan->membership_after_change(x, "x").form_now(), 0);
  EXPECT_FALSE(plan->wants_collection("mine"));
}

}  // namespace
}  // namespace trainwarden::capture
