#include "tune/study/study.h"

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "store/storage/memory_storage.h"
#include "tune/search/gp/gp_sampler.h"
#include "tune/study/study_warnings.h"

namespace trainwarden::tune {
namespace {

// Random points, each of its number alone.
class AnySampler : public TrialSampler {
 public:
  std::string_view name() const override { return "any"; }
  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    Random random = random_of(history, number);
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, random_point(history.space, random));
    return Suggestion{std::move(point), {{"half", 0.5}}};
  }
};

StudySpec spec_named(std::string name) {
  StudySpec spec{.name = std::move(name),
                 .space = *Space::make({{.name = "rate", .min = 1e-5, .max = 1, .log = true},
                                        {.name = "kind", .kind = ParameterKind::kChoice, .choices = {"a", "b"}}}),
                 .metrics = {{.name = "f1", .goal = Goal::kMaximize, .threshold = 90},
                             {.name = "time", .strategy = Strategy::kStore}},
                 .seed = 3};
  return spec;
}

class StudyTest : public testing::Test {
 protected:
  Study create(StudySpec spec = spec_named("squad")) {
    auto study = Study::create(studies_, std::move(spec), clock_);
    EXPECT_TRUE(study.ok()) << study.status().to_string();
    return *std::move(study);
  }
  Study open(const std::string& name = "squad") { return *Study::open(studies_, name, clock_); }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  storage::Location studies_{memory_, "studies"};
  AnySampler sampler_;
};

TEST_F(StudyTest, WhatIsAskedAndToldIsThereForOthers) {
  Study study = create();
  EXPECT_EQ(*study.ask(sampler_, {.worker = "here"}), 0);
  EXPECT_TRUE(study.report(0, {{10, {{"f1", 50}}}}).ok());
  EXPECT_TRUE(study.report(0, {{20, {{"f1", 60}, {"time", 3}}}}).ok());
  clock_.advance_ns(5'000'000'000);
  EXPECT_TRUE(study.finish(0, {.metrics = {{"f1", 70}}, .why = "done"}).ok());
  const Study other = open();
  const StudyTrial& trial = other.state().history().trials.at(0);
  EXPECT_EQ(trial.state, TrialState::kComplete);
  EXPECT_EQ(trial.values[0], 70);
  EXPECT_TRUE(std::isnan(trial.values[1]));
  EXPECT_EQ(trial.series[0].size(), 2u);
  EXPECT_EQ(trial.notes.at("half"), 0.5);
  EXPECT_EQ(trial.point, study.state().history().trials[0].point);
  EXPECT_EQ(other.state().record(0).seconds, 5);
  EXPECT_EQ(other.state().record(0).worker, "here");
  EXPECT_EQ(other.damaged(), 0);
}

TEST_F(StudyTest, SuggestionsAreTheSameAfterACrash) {
  Study study = create();
  Study twin = create(spec_named("twin"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(*study.ask(sampler_, {}), i);
    Study fresh = open("twin");
    ASSERT_EQ(*fresh.ask(sampler_, {}), i);
  }
  ASSERT_TRUE(twin.refresh().ok());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(study.state().history().trials[i].point, twin.state().history().trials[i].point);
  }
}

TEST_F(StudyTest, ManyWhoAskAtOnceGetTrialsOfTheirOwn) {
  const TestFolder folder;
  const storage::Location studies(folder.path());
  ASSERT_TRUE(Study::create(studies, spec_named("squad"), clock_).ok());
  std::atomic<int> failed = 0;
  std::vector<std::jthread> workers;
  for (int i = 0; i < 8; ++i) {
    workers.emplace_back([&] {
      AnySampler sampler;
      auto study = Study::open(studies, "squad", clock_);
      for (int k = 0; k < 10; ++k) {
        const auto number = study->ask(sampler, {});
        if (!number.ok() || !study->finish(*number, {.metrics = {{"f1", 1.0 * static_cast<double>(*number)}}}).ok())
          ++failed;
      }
    });
  }
  workers.clear();
  EXPECT_EQ(failed, 0);
  const auto study = Study::open(studies, "squad", clock_);
  EXPECT_EQ(study->state().history().trials.size(), 80u);
  EXPECT_EQ(study->state().count(TrialState::kComplete), 80u);
  EXPECT_EQ(study->damaged(), 0);
}

TEST_F(StudyTest, WhatAVerdictEndedOrEndedInNaNIsMarkedForGood) {
  Study study = create();
  for (std::int64_t i = 0; i < 3; ++i) ASSERT_EQ(*study.ask(sampler_, {}), i);
  EXPECT_FALSE(study.finish(0, {.metrics = {{"f1", 1}}, .by_verdict = true}).ok());  // complete
  ASSERT_TRUE(study.finish(0, {.state = TrialState::kPruned, .by_verdict = true}).ok());
  ASSERT_TRUE(study.finish(1, {.metrics = {{"f1", std::nan("")}}}).ok());
  ASSERT_TRUE(study.finish(2, {.state = TrialState::kPruned}).ok());
  const Study again = open();
  const auto& trials = again.state().history().trials;
  EXPECT_TRUE(trials[0].ended_by_verdict);
  EXPECT_EQ(trials[1].state, TrialState::kFailed);
  EXPECT_FALSE(trials[2].ended_by_verdict);
  EXPECT_EQ(again.damaged(), 0);
}

TEST_F(StudyTest, ABudgetOfRegretClosesIt) {
  StudySpec spec{
      .name = "bowl", .space = *Space::make({{.name = "x", .min = -5, .max = 5}}), .metrics = {{.name = "loss"}}};
  spec.budget.regret = 0.05;
  spec.budget.trials = 60;
  Study study = create(std::move(spec));
  const auto sampler = make_gp({});
  while (true) {
    const auto trial = study.ask(*sampler, {});
    if (!trial.ok()) break;
    const double x = study.state().history().trials[static_cast<std::size_t>(*trial)].point[0];
    ASSERT_TRUE(study.finish(*trial, {.metrics = {{"loss", (x - 1) * (x - 1)}}}).ok());
  }
  EXPECT_LT(study.state().history().trials.size(), 60u);
  ASSERT_TRUE(study.state().closed());
  EXPECT_NE(study.state().closed()->find("of loss is left to gain, less than 0.05"), std::string::npos)
      << *study.state().closed();
  EXPECT_LT(study.state().history().trials[*best_of(study.state().history())].values[0], 0.05);
}

TEST_F(StudyTest, WarnsOfWhatIsComparedAndOfABudgetThatNeverEnds) {
  StudySpec spec = spec_named("squad");
  spec.budget.regret = 1;
  spec.metrics[1].strategy = Strategy::kOptimize;
  Study study = create(std::move(spec));
  EXPECT_EQ(
      study_warnings(study.spec(), study.state()),
      std::vector<std::string>{"budget.regret never ends this study, for how much is left to gain cannot be known: "
                               "there are several objectives"});
  for (std::int64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(*study.ask(sampler_, {.fingerprint = i < 2 ? "one" : "two"}), i);
    ASSERT_TRUE(study.finish(i, {.metrics = {{"f1", 1}, {"time", 1}}}).ok());
  }
  EXPECT_EQ(study_warnings(study.spec(), study.state()).front(),
            "trials of different code or data are compared: there are 2 versions, the first trials of which are 0, 2");
}

TEST_F(StudyTest, ALostTrialIsGivenToOthers) {
  Study study = create();
  ASSERT_EQ(*study.ask(sampler_, {.worker = "one", .lease_seconds = 60}), 0);
  ASSERT_EQ(*study.ask(sampler_, {.worker = "two", .lease_seconds = 60}), 1);
  clock_.advance_ns(50'000'000'000);
  ASSERT_TRUE(study.beat(1, 60).ok());
  clock_.advance_ns(20'000'000'000);
  EXPECT_EQ(*study.ask(sampler_, {.worker = "three", .lease_seconds = 60}), 0);
  EXPECT_EQ(study.state().record(0).attempts, 2);
  EXPECT_EQ(study.state().record(0).worker, "three");
  EXPECT_EQ(*study.ask(sampler_, {}), 2);
}

TEST_F(StudyTest, APausedTrialStandsUntilItIsPromoted) {
  Study study = create();
  ASSERT_EQ(*study.ask(sampler_, {.worker = "one", .lease_seconds = 60}), 0);
  ASSERT_TRUE(study.report(0, {{10, {{"f1", 50}}}}).ok());
  ASSERT_TRUE(study.pause(0, "rank 5 of 8").ok());
  clock_.advance_ns(3'600'000'000'000);
  Study later = open();
  EXPECT_EQ(later.state().history().trials[0].state, TrialState::kPaused);
  EXPECT_EQ(later.state().record(0).why, "rank 5 of 8");
  EXPECT_FALSE(later.state().history().trials[0].is_over());
  EXPECT_EQ(*later.ask(sampler_, {}), 1) << "it is not lost";
  EXPECT_EQ(later.report(0, {{11, {{"f1", 51}}}}).message(), "trial 0 is paused");
  EXPECT_FALSE(later.pause(0, "again").ok());
  ASSERT_TRUE(later.promote(0, 10, "two", "rank 2 of 8").ok());
  const Study last = open();
  EXPECT_EQ(last.state().history().trials[0].state, TrialState::kRunning);
  EXPECT_EQ(last.state().history().trials[0].passed_rung, 10);
  EXPECT_EQ(last.state().record(0).worker, "two");
  EXPECT_EQ(last.state().record(0).why, "");
  EXPECT_EQ(last.state().record(0).attempts, 1);
  EXPECT_TRUE(open().report(0, {{11, {{"f1", 51}}}}).ok());
  EXPECT_EQ(last.damaged(), 0);
}

TEST_F(StudyTest, PausedTrialsGoOnWhenAllTrialsHaveBeenMadeAndNotWhenItsTimeIsOver) {
  StudySpec spec = spec_named("squad");
  spec.budget.trials = 1;
  spec.budget.wall_seconds = 100;
  Study study = create(spec);
  ASSERT_TRUE(study.ask(sampler_, {}).ok());
  EXPECT_EQ(study.ask(sampler_, {}).status().code(), Code::kResourceExhausted);
  EXPECT_FALSE(study.end_of_promotions());
  clock_.advance_ns(101'000'000'000);
  EXPECT_TRUE(study.end_of_promotions());
}

TEST_F(StudyTest, WhatIsToldTwiceCountsOnceAndContradictionsAreRefused) {
  Study study = create();
  ASSERT_EQ(*study.ask(sampler_, {}), 0);
  ASSERT_TRUE(study.finish(0, {.metrics = {{"f1", 70}}}).ok());
  EXPECT_TRUE(study.finish(0, {.metrics = {{"f1", 70}}}).ok());
  const Status other = study.finish(0, {.metrics = {{"f1", 71}}});
  EXPECT_EQ(other.code(), Code::kFailedPrecondition);
  EXPECT_NE(other.message().find("trial 0 has ended already (complete"), std::string::npos) << other.message();
  EXPECT_EQ(study.finish(5, {.metrics = {{"f1", 71}}}).code(), Code::kFailedPrecondition);
  ASSERT_EQ(*study.ask(sampler_, {}), 1);
  EXPECT_NE(study.finish(1, {.metrics = {{"f2", 71}}}).message().find("did you mean \"f1\"?"), std::string::npos);
  EXPECT_NE(study.finish(1, {}).message().find("expected the metric f1, found none"), std::string::npos);
  ASSERT_TRUE(study.report(1, {{5, {{"f1", 1}}}}).ok());
  EXPECT_TRUE(study.report(1, {{5, {{"f1", 1}}}}).ok());
  EXPECT_FALSE(study.report(1, {{5, {{"f1", 2}}}}).ok());
  EXPECT_FALSE(study.report(1, {{4, {{"f1", 2}}}}).ok());
  EXPECT_EQ(study.state().history().trials[1].series[0].size(), 1u);
}

TEST_F(StudyTest, ANaNIsAFailedTrialThatSaysSo) {
  Study study = create();
  ASSERT_EQ(*study.ask(sampler_, {}), 0);
  ASSERT_TRUE(study.finish(0, {.metrics = {{"f1", NAN}}}).ok());
  EXPECT_EQ(study.state().history().trials[0].state, TrialState::kFailed);
  EXPECT_EQ(study.state().record(0).why, "f1 is NaN");
  EXPECT_EQ(open().state().record(0).why, "f1 is NaN");
}

TEST_F(StudyTest, WhatIsEnqueuedComesFirst) {
  Study study = create();
  EXPECT_EQ(*study.enqueue({{"rate", 0.1}, {"kind", "b"}}), 0);
  EXPECT_EQ(study.enqueue({{"rate", 5.0}, {"kind", "b"}}).status().message(),
            "rate: expected a number from 1e-05 to 1, found 5");
  EXPECT_EQ(*study.ask(sampler_, {}), 0);
  EXPECT_EQ(*study.ask(sampler_, {}), 1);
  EXPECT_EQ(study.state().record(0).sampler, "user");
}

TEST_F(StudyTest, EndsWhenItsBudgetDoes) {
  StudySpec spec = spec_named("squad");
  spec.budget.trials = 2;
  Study study = create(spec);
  ASSERT_TRUE(study.ask(sampler_, {}).ok());
  ASSERT_TRUE(study.ask(sampler_, {}).ok());
  const auto third = study.ask(sampler_, {});
  EXPECT_EQ(third.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(third.status().message(), "the study has ended: its 2 trials have been made");
}

TEST_F(StudyTest, EndsAtItsTargetAndNotBefore) {
  Study study = create();
  ASSERT_TRUE(study.ask(sampler_, {}).ok());
  ASSERT_TRUE(study.finish(0, {.metrics = {{"f1", 89.9}}}).ok());
  ASSERT_TRUE(study.ask(sampler_, {}).ok());
  ASSERT_TRUE(study.finish(1, {.metrics = {{"f1", 90}}}).ok());
  EXPECT_EQ(study.ask(sampler_, {}).status().message(), "the study has ended: trial 1 meets the target");
}

TEST_F(StudyTest, EndsWhenNothingIsGained) {
  StudySpec spec = spec_named("squad");
  spec.budget.stagnation = 2;
  Study study = create(spec);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(study.ask(sampler_, {}).ok()) << i;
    ASSERT_TRUE(study.finish(i, {.metrics = {{"f1", i < 2 ? i : 1}}}).ok());
  }
  EXPECT_EQ(study.ask(sampler_, {}).status().message(), "the study has ended: 2 trials in a row were no better");
}

TEST_F(StudyTest, ClosedAndOpenedAgain) {
  Study study = create();
  ASSERT_TRUE(study.close("somebody stopped it").ok());
  EXPECT_EQ(open().ask(sampler_, {}).status().message(), "the study has ended: somebody stopped it");
  ASSERT_TRUE(study.reopen("go on").ok());
  EXPECT_TRUE(open().ask(sampler_, {}).ok());
}

TEST_F(StudyTest, TakesWhatWasFinishedElsewhere) {
  Study study = create();
  EXPECT_EQ(*study.add_finished({{"rate", 0.1}, {"kind", "a"}}, {.metrics = {{"f1", 80}}, .seconds = 12.5}), 0);
  EXPECT_EQ(best_of(open().state().history()), 0u);
  EXPECT_EQ(open().state().trial_seconds(), 12.5);
  EXPECT_FALSE(study.add_finished({{"rate", 0.1}, {"kind", "a"}}, {}).ok());
}

TEST_F(StudyTest, ThousandsOfEntriesArePackedAndRead) {
  StudySpec spec = spec_named("squad");
  spec.budget.at_target = false;
  Study study = create(spec);
  for (int i = 0; i < 600; ++i) {
    ASSERT_EQ(*study.ask(sampler_, {}), i);
    ASSERT_TRUE(study.finish(i, {.metrics = {{"f1", i}}}).ok());
  }
  EXPECT_TRUE(memory_->exists("squad/log/pack-00001000.json"));
  memory_->set_content("squad/log/00000500.json", "garbage");  // the pack has it
  const Study again = open();
  EXPECT_EQ(again.damaged(), 0);
  EXPECT_EQ(again.state().count(TrialState::kComplete), 600u);
  EXPECT_EQ(best_of(again.state().history()), 599u);
}

TEST_F(StudyTest, DamageCostsAnEntryAndIsCounted) {
  Study study = create();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(study.ask(sampler_, {}).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(study.finish(i, {.metrics = {{"f1", i}}}).ok());
  memory_->set_content("squad/log/00000005.json", "{\"events\": [{\"kind\": \"ended\"");
  const Study again = open();
  EXPECT_EQ(again.damaged(), 1);
  EXPECT_EQ(again.state().history().trials[1].state, TrialState::kRunning);
  EXPECT_EQ(again.state().history().trials[2].state, TrialState::kComplete);
}

TEST_F(StudyTest, HostileEntriesAreCountedAndLeftOut) {
  create();
  ASSERT_TRUE(memory_->create_folder("squad/log").ok());
  memory_->set_content("squad/log/00000001.json", R"({"events": [
      {"kind": "suggested", "at": 1, "trial": 0, "values": {"rate": 99.0, "kind": "a"}},
      {"kind": "suggested", "at": 1, "trial": 99999999999, "values": {}},
      {"kind": "ended", "at": 1, "trial": 7, "state": "complete"},
      {"kind": "dances", "at": 1}, 7, {"kind": "suggested", "at": -1, "trial": 0},
      {"kind": "suggested", "at": 1, "trial": 0, "values": {"rate": 0.5, "kind": "a"}},
      {"kind": "started", "at": 2, "trial": 0},
      {"kind": "reported", "at": 2, "trial": 0, "step": 1, "metrics": {"f1": "high"}}]})");
  const Study study = open();
  EXPECT_EQ(study.damaged(), 7);
  EXPECT_EQ(study.state().history().trials.size(), 1u);
}

TEST_F(StudyTest, NamesAreTakenOnceAndTheNearestIsNamed) {
  create();
  EXPECT_EQ(Study::create(studies_, spec_named("squad"), clock_).status().code(), Code::kAlreadyExists);
  EXPECT_EQ(Study::create(studies_, spec_named("no good"), clock_).status().code(), Code::kInvalidArgument);
  const auto missing = Study::open(studies_, "squat", clock_);
  EXPECT_EQ(missing.status().code(), Code::kNotFound);
  EXPECT_NE(missing.status().message().find("did you mean \"squad\"?"), std::string::npos);
  memory_->set_content("squad/study.json", "{}");
  EXPECT_EQ(Study::open(studies_, "squad", clock_).status().code(), Code::kDataLoss);
  EXPECT_EQ(*Study::list(studies_), std::vector<std::string>{"squad"});
}

}  // namespace
}  // namespace trainwarden::tune
