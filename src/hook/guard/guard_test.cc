#include "trainwarden/guard.h"
#include "store/journal/all_events.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "hook/guard/guard_testing.h"
#include "hook/guard/step_guard.h"
#include "hook/guard/timed_rule.h"
#include "judge/rules/registry.h"

namespace trainwarden::guard {
namespace {

const std::vector<float> kGood = {0.5f, 0.25f, 1};
const std::vector<float> kPoison = {0.5f, NAN, 1};

TEST_F(GuardTest, AStepThatWouldPoisonTheWeightsIsLeftOutAndTheNextBatchGoesOn) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules), {.on_fire = OnFire::kSkipStep});
  for (int step = 0; step < 3; ++step) train(kGood);
  EXPECT_EQ(advice_, StepAdvice::kProceed);
  const std::vector<float> before = weights_;

  EXPECT_FALSE(train(kPoison).stop_requested);
  EXPECT_EQ(advice_, StepAdvice::kSkipStep);
  EXPECT_EQ(weights_, before) << "bit for bit";
  EXPECT_EQ(hook_->judge_reason(), "NanGradients fired at step 3: gradient/w has a NaN.");

  train(kGood);
  EXPECT_EQ(advice_, StepAdvice::kProceed);
  EXPECT_NE(weights_, before);
  train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kSkipStep) << "it judges on";
  EXPECT_EQ(hook_->report().vetoes, 2u);

  const GuardRecords written = records();
  ASSERT_EQ(written.verdicts.size(), 2u);
  EXPECT_EQ(written.verdicts[0].place.global_step, 3);
  EXPECT_EQ(written.verdicts[0].verdict.message, "gradient/w has a NaN.");
  EXPECT_EQ(written.last_status("NanGradients"), RuleStatus::kIssuesFound);
  ASSERT_EQ(written.actions.size(), 2u);
  EXPECT_NE(written.actions[0].find("\"skip_step\""), std::string::npos) << written.actions[0];

  const auto run = trial();
  EXPECT_EQ(run->state(), RunState::kCompleted);
  EXPECT_EQ(required(run->statistics("gradient/w", 3)).nan_count, 1u) << "the step is in the run";
  EXPECT_EQ(required(run->statistics("w", 5)).nan_count, 0u);
}

TEST_F(GuardTest, StoppingComesBeforeTheStep) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules), {.on_fire = OnFire::kStop});
  train(kGood);
  const std::vector<float> before = weights_;
  const StepEnd end = train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kStop);
  EXPECT_EQ(weights_, before);
  EXPECT_TRUE(end.stop_requested);
  EXPECT_EQ(end.stop_reason, "NanGradients fired at step 1: gradient/w has a NaN.");
  EXPECT_EQ(records().verdicts.size(), 1u);
  EXPECT_EQ(trial()->state(), RunState::kStopped);
}

TEST_F(GuardTest, ReportingChangesNothing) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules));
  train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kProceed);
  EXPECT_TRUE(std::isnan(weights_[1]));
  EXPECT_EQ(hook_->report().vetoes, 0u);
  const GuardRecords written = records();
  EXPECT_EQ(written.verdicts.size(), 1u);
  EXPECT_TRUE(written.actions.empty());
}

TEST_F(GuardTest, WithoutAGuardNothingIsJudgedAndNothingWritten) {
  hook_ = required(capture::HookOpener::open(whole(), storage_, clock_));
  train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kProceed);
  EXPECT_EQ(hook_->judge_reason(), "");
  ASSERT_TRUE(hook_->close().ok());
  EXPECT_EQ(required(journal::list_journals(*storage_)), std::vector<std::string>{"rank-00000"});
}

TEST_F(GuardTest, AHookThatIsOffTakesAGuardAndNeverAsksIt) {
  hook_ = Hook::disabled();
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  EXPECT_TRUE(Guard::install(*hook_, std::move(rules), {.on_fire = OnFire::kStop}).ok());
  EXPECT_EQ(hook_->judge_step(), StepAdvice::kProceed);
}

TEST_F(GuardTest, VerdictsAreThereAsSoonAsTheStepIsFlushed) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules));
  train(kPoison);
  ASSERT_TRUE(hook_->flush().ok());
  const auto reader =
      required(journal::JournalReader::open(*storage_, required(journal::read_run(*storage_)), "watch-0", {}));
  ASSERT_TRUE(reader->refresh().ok());
  int verdicts = 0;
  for (const auto& event : journal::all_events(*reader)) {
    verdicts += event.kind == format::FrameKind::kVerdict && required(rules::decode_verdict(event.json)) ? 1 : 0;
  }
  EXPECT_EQ(verdicts, 1);
}

TEST_F(GuardTest, ARuleThatThrowsIsParkedAndTheOthersGoOn) {
  std::vector<GuardRule> rules;
  int asked = 0;
  rules.push_back(rule_of("Thrower", [&](const StepWindow&) -> Verdict {
    ++asked;
    throw std::runtime_error("no luck");
  }));
  rules.push_back(rule_of("Strange", [](const StepWindow&) -> Verdict { throw 7; }));
  rules.push_back(nan_gradients());
  open(std::move(rules), {.on_fire = OnFire::kSkipStep});
  train(kGood);
  EXPECT_EQ(advice_, StepAdvice::kProceed) << "a failure vetoes nothing";
  train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kSkipStep);
  EXPECT_EQ(asked, 1);
  const GuardRecords written = records();
  ASSERT_EQ(written.verdicts.size(), 3u);
  EXPECT_EQ(written.verdicts[0].verdict.outcome, Outcome::kError);
  EXPECT_EQ(written.verdicts[0].verdict.message, "the rule threw: no luck");
  EXPECT_EQ(written.last_status("Thrower"), RuleStatus::kError);
  EXPECT_EQ(written.last_status("Strange"), RuleStatus::kError);
}

TEST_F(GuardTest, ARuleThatIsTooSlowTooOftenIsParked) {
  std::vector<GuardRule> rules;
  int asked = 0;
  const auto judge = [&](const StepWindow&) {
    ++asked;
    if (asked != 2) clock_.advance_ns(51'000'000);
    return Verdict::ok();
  };
  rules.push_back(rule_of("Slow", judge, {rules::need_statistics("gradients")}));
  open(std::move(rules), {.time_limit = std::chrono::milliseconds(50)});
  for (int step = 0; step < 10; ++step) train(kGood);
  EXPECT_EQ(asked, 2 + TimedRule::kTolerated) << "once slow is forgiven by once fast";
  const GuardRecords written = records();
  ASSERT_EQ(written.verdicts.size(), 1u);
  EXPECT_EQ(written.verdicts[0].verdict.outcome, Outcome::kError);
  EXPECT_NE(written.verdicts[0].verdict.message.find("more than 50"), std::string::npos)
      << written.verdicts[0].verdict.message;
}

TEST_F(GuardTest, WhatJudgingCostsIsOnTheBill) {
  std::vector<GuardRule> rules;
  rules.push_back(rule_of("Costly",
                          [&](const StepWindow&) {
                            clock_.advance_ns(5'000'000);
                            return Verdict::ok();
                          },
                          {rules::need_statistics("gradients")}));
  open(std::move(rules));
  train(kGood);
  EXPECT_GE(hook_->report().bill.capture_ns, 5'000'000);
}

TEST_F(GuardTest, WarningsDoNotStarveATraining) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients(Severity::kWarning));
  open(std::move(rules), {.on_fire = OnFire::kSkipStep, .warnings_in_a_row = 2});
  std::vector<StepAdvice> advice;
  for (const auto& gradient : {kPoison, kPoison, kPoison, kPoison, kGood, kPoison}) {
    train(gradient);
    advice.push_back(advice_);
  }
  constexpr auto kSkip = StepAdvice::kSkipStep;
  constexpr auto kGo = StepAdvice::kProceed;
  EXPECT_EQ(advice, (std::vector{kSkip, kSkip, kGo, kGo, kGo, kSkip}));
}

TEST_F(GuardTest, ErrorsVetoAsLongAsTheyLast) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules), {.on_fire = OnFire::kSkipStep, .warnings_in_a_row = 2});
  for (int step = 0; step < 50; ++step) {
    train(kPoison);
    ASSERT_EQ(advice_, StepAdvice::kSkipStep) << step;
  }
  const GuardRecords written = records();
  EXPECT_EQ(written.verdicts.size(), 1u) << "written once";
  ASSERT_EQ(written.repeats.size(), 1u);
  EXPECT_EQ(written.repeats[0].count, 49u);
}

TEST_F(GuardTest, NotesAndMutedVerdictsVetoNothing) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients(Severity::kInfo));
  rules.push_back(rule_of("Loud", [](const StepWindow&) { return fired_with(Severity::kError); }));
  open(std::move(rules), {.on_fire = OnFire::kSkipStep, .mute = {"Loud"}});
  train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kProceed);
  const GuardRecords written = records();
  ASSERT_EQ(written.verdicts.size(), 2u);
  EXPECT_TRUE(written.verdicts[1].muted);
}

// A GAN: each optimizer is judged by its own gradients.
TEST_F(GuardTest, TwoOptimizersAreJudgedEachByWhatIsNew) {
  std::vector<GuardRule> rules;
  std::vector<std::vector<std::string>> seen;
  rules.push_back(rule_of("Looker",
                          [&](const StepWindow& window) {
                            auto& names = seen.emplace_back();
                            for (const TensorSpot& spot : selected(window, {.all = true})) names.push_back(spot.tensor);
                            return Verdict::ok();
                          },
                          {rules::need_statistics("all")}));
  rules.push_back(nan_gradients());
  open(std::move(rules), {.on_fire = OnFire::kSkipStep});
  save("gradient/d", kPoison, "gradients");
  EXPECT_EQ(hook_->judge_step(), StepAdvice::kSkipStep);
  save("gradient/g", kGood, "gradients");
  EXPECT_EQ(hook_->judge_step(), StepAdvice::kProceed);
  EXPECT_EQ(hook_->judge_step(), StepAdvice::kProceed) << "nothing is new";
  save("w", weights_, "weights");
  hook_->end_step();
  EXPECT_EQ(seen, (std::vector<std::vector<std::string>>{{"gradient/d"}, {"gradient/g"}, {"w"}}));
}

TEST_F(GuardTest, WhatNeedsWeightsJudgesTheWholeStepAtItsEnd) {
  std::vector<GuardRule> rules;
  std::vector<std::size_t> seen;
  rules.push_back(rule_of("Weights",
                          [&](const StepWindow& window) {
                            seen.push_back(selected(window, {.collections = {"weights", "gradients"}}).size());
                            return window.global_step() == 1 ? fired_with(Severity::kWarning) : Verdict::ok();
                          },
                          {rules::need_statistics("weights"), rules::need_statistics("gradients")}));
  open(std::move(rules), {.on_fire = OnFire::kStop});
  EXPECT_FALSE(train(kGood).stop_requested);
  EXPECT_TRUE(train(kGood).stop_requested);
  EXPECT_EQ(advice_, StepAdvice::kProceed);
  EXPECT_EQ(seen, (std::vector<std::size_t>{2, 2}));
}

TEST_F(GuardTest, WhereNobodyAsksAllRulesJudgeAtTheEndOfTheStep) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules), {.on_fire = OnFire::kSkipStep});
  save("gradient/w", kPoison, "gradients");
  hook_->end_step();
  save("gradient/w", kPoison, "gradients");  // of a step that close() ends
  EXPECT_EQ(hook_->report().vetoes, 0u);
  const GuardRecords written = records();
  ASSERT_EQ(written.verdicts.size(), 1u);
  ASSERT_EQ(written.repeats.size(), 1u);
  EXPECT_EQ(written.repeats[0].last_step, 1);
}

TEST_F(GuardTest, ThreadsGoOnSavingWhileRulesJudge) {
  std::vector<GuardRule> rules;
  std::thread saver;
  rules.push_back(rule_of("Patient",
                          [&](const StepWindow& window) {
                            const auto spots = window.select({.all = true});
                            const std::size_t before = spots->size();
                            saver = std::thread([&] {
                              for (int i = 0; i < 1000; ++i) hook_->save_scalar("s" + std::to_string(i), i);
                              save("gradient/late", kGood, "gradients");
                            });
                            saver.join();  // it does not wait for us
                            EXPECT_EQ(selected(window, {.all = true}).size(), before);
                            hook_->save_scalar("from_the_rule", 1);
                            return Verdict::ok();
                          },
                          {rules::need_statistics("gradients")}));
  open(std::move(rules));
  train(kGood);
  ASSERT_TRUE(hook_->close().ok());
  EXPECT_EQ(trial()->tensor_names({.step = 0})->size(), 1004u);
}

TEST_F(GuardTest, ARuleThatEndsTheStepItselfBreaksNothing) {
  std::vector<GuardRule> rules;
  rules.push_back(rule_of("Meddler",
                          [&](const StepWindow& window) {
                            hook_->judge_step();
                            hook_->end_step();
                            hook_->set_mode(Mode::kEval);
                            EXPECT_EQ(selected(window, {.all = true}).size(), 1u);
                            return Verdict::ok();
                          },
                          {rules::need_statistics("gradients")}));
  open(std::move(rules));
  EXPECT_EQ(train(kGood).global_step, 0);
  EXPECT_EQ(hook_->global_step(), 1);
  EXPECT_EQ(hook_->mode(), Mode::kGlobal);
  EXPECT_TRUE(hook_->close().ok());
}

// 1 ms of capture in each step of 1 ms: a budget of 1 % leaves out nearly all steps.
TEST_F(GuardTest, NoBudgetLeavesOutWhatMayVeto) {
  for (const OnFire on_fire : {OnFire::kReport, OnFire::kSkipStep}) {
    storage_ = storage::create_memory_storage();
    HookOptions options = whole();
    options.include_collections = {"losses"};
    options.budget = 0.01;
    int judged = 0;
    std::vector<GuardRule> rules;
    rules.push_back(rule_of("Counter",
                            [&](const StepWindow& window) {
                              judged += selected(window, {.collections = {"gradients"}}).empty() ? 0 : 1;
                              clock_.advance_ns(1'000'000);
                              return Verdict::ok();
                            },
                            {rules::need_statistics("gradients")}));
    open(std::move(rules), {.on_fire = on_fire}, options);
    for (int step = 0; step < 2000; ++step) {
      clock_.advance_ns(1'000'000);
      train(kGood);
    }
    const bool may_veto = on_fire == OnFire::kSkipStep;
    EXPECT_EQ(judged == 2000, may_veto) << judged;
    hook_.reset();
  }
}

TEST_F(GuardTest, WhatTheRulesNeedIsCapturedThoughNobodyAskedForIt) {
  HookOptions options;
  options.include_collections = {"losses"};
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  Collection own{.name = "own", .include = {"^special"}, .save = SavePolicy::every(1), .keep = KeepForm::reduced()};
  std::size_t special = 0;
  rules.push_back(rule_of("Special",
                          [&](const StepWindow& window) {
                            special += selected(window, {.collections = {"own"}}).size();
                            return Verdict::ok();
                          },
                          {own}));
  hook_ = required(capture::HookOpener::open(options, storage_, clock_));
  hook_->declare("special.early");  // before there is a guard
  ASSERT_TRUE(Guard::install(*hook_, std::move(rules), {.on_fire = OnFire::kSkipStep}).ok());
  const std::vector<float> values = {1, 2};
  hook_->save_tensor("special.early", TensorView::of(values.data(), DType::kFloat32, Shape({2})));
  train(kPoison);
  EXPECT_EQ(advice_, StepAdvice::kSkipStep);
  EXPECT_EQ(special, 1u);
  ASSERT_TRUE(hook_->close().ok());
  EXPECT_EQ(required(trial()->tensor_names({.collection = "own"})), std::vector<std::string>{"special.early"});
}

TEST_F(GuardTest, ASecondGuardIsRefused) {
  std::vector<GuardRule> rules;
  rules.push_back(nan_gradients());
  open(std::move(rules));
  EXPECT_EQ(Guard::install(*hook_, std::vector<GuardRule>()).code(), Code::kAlreadyExists);
}

TEST(GuardRules, ThoseThatNeedMoreThanOneStepAreRefused) {
  for (const RuleKind& kind : builtin_rules()) {
    const auto parsed = Guard::parse_rules({kind.description.name});
    EXPECT_EQ(parsed.ok(), kind.description.in_process) << kind.description.name;
    if (parsed.ok()) continue;
    EXPECT_NE(parsed.status().message().find("inside the training"), std::string::npos) << parsed.status().message();
  }
  EXPECT_EQ(Guard::parse_rules({"Nonsense"}).status().code(), Code::kInvalidArgument);
  std::vector<GuardRule> null;
  null.push_back({{"Null", {}}, nullptr});
  const auto hook = Hook::disabled();
  EXPECT_EQ(Guard::install(*hook, std::move(null)).code(), Code::kInvalidArgument);
}

TEST(GuardRules, ALineOfTextMayJudgeInsideAndARuleOfAFileMayNot) {
  EXPECT_TRUE(Guard::parse_rules({"l2(gradient/*) > 100"}).ok());
  const Status status = Guard::parse_rules({"my_rules.py:Mine"}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("--inside"), std::string::npos) << status.message();
}

TEST(GuardRules, DefaultMeansThoseThatCanJudgeInHere) {
  const auto specs = Guard::parse_rules({"default"});
  ASSERT_TRUE(specs.ok());
  for (const RuleSpec& spec : *specs) {
    EXPECT_TRUE(rules::find_builtin(spec.name)->description.in_process) << spec.name;
    EXPECT_TRUE(rules::find_builtin(spec.name)->description.by_default) << spec.name;
  }
}

TEST(GuardRules, OnFireIsReadAsItIsWritten) {
  for (const OnFire on_fire : {OnFire::kReport, OnFire::kSkipStep, OnFire::kStop}) {
    EXPECT_EQ(*parse_on_fire(name(on_fire)), on_fire);
  }
  EXPECT_EQ(*parse_on_fire("skip-step"), OnFire::kSkipStep);
  EXPECT_EQ(parse_on_fire("explode").status().code(), Code::kInvalidArgument);
}

TEST(GuardRules, WhenARuleJudgesFollowsFromWhatItNeeds) {
  using rules::need_statistics;
  EXPECT_EQ(judging_time({need_statistics("gradients"), need_statistics("losses")}), JudgingTime::kBeforeOptimizer);
  EXPECT_EQ(judging_time({need_statistics("gradients"), need_statistics("weights")}), JudgingTime::kStepEnd);
  EXPECT_EQ(judging_time({rules::need_signals()}), JudgingTime::kStepEnd);
  EXPECT_EQ(judging_time({need_statistics("all")}), JudgingTime::kBoth);
  EXPECT_EQ(judging_time({{.name = "mine", .include = {"conv"}}}), JudgingTime::kBoth);
  EXPECT_EQ(judging_time({}), JudgingTime::kBoth);
}

}  // namespace
}  // namespace trainwarden::guard
