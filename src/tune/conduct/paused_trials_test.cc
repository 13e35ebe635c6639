#include "tune/conduct/paused_trials.h"

#include <array>
#include <set>

#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"
#include "tune/conduct/conduct_testing.h"
#include "tune/conduct/conductor.h"
#include "tune/search/pruners/all.h"

namespace trainwarden::tune {
namespace {

constexpr int kSteps = 8;  // of a whole trial

// Costs of the trials by their number. By successive halving with factor 2 the best four pass step 1.
constexpr std::array<double, 8> kCosts = {0.8, 0.2, 0.5, 0.1, 0.6, 0.4, 0.7, 0.3};

class TableSampler : public TrialSampler {
 public:
  std::string_view name() const override { return "table"; }
  Result<Suggestion> suggest(const History&, std::int64_t number) override {
    return Suggestion{{kCosts.at(static_cast<std::size_t>(number))}, {}};
  }
};

// Each look at what runs is a step. What is to stop stands at the look after.
class SteppingRunner : public TrialRunner {
 public:
  enum class Phase { kRuns, kStops, kStands };
  struct Job {
    double cost = 0;
    int steps = 0;
    int resumed = 0;
    Phase phase = Phase::kRuns;
  };

  Status start(const std::string& job, const TriedValues& values) override {
    if (jobs.contains(job)) return Status(Code::kAlreadyExists, "it is there");
    jobs[job].cost = std::get<double>(values.at("x"));
    return {};
  }
  Result<TrialLook> look(const std::string& job) override {
    if (!jobs.contains(job)) return Status(Code::kNotFound, "it was removed");
    Job& one = jobs[job];
    if (one.phase == Phase::kRuns) one.steps = std::min(one.steps + 1, kSteps);
    if (one.phase == Phase::kStops && !never_stops) one.phase = Phase::kStands;
    TrialLook look;
    for (int step = 1; step <= one.steps; ++step) look.series["loss"].push_back({step, one.cost});
    if (one.steps == kSteps || one.phase == Phase::kStands) {
      look.end = TrialEnd{.metrics = {}, .why = {}, .seconds = one.steps};
      if (one.steps < kSteps) {
        look.end->state = TrialState::kFailed;
        look.was_stopped = true;
      }
    }
    return look;
  }
  Status stop(const std::string& job, const std::string&) override {
    if (jobs[job].phase == Phase::kRuns) jobs[job].phase = Phase::kStops;
    return {};
  }
  Status go_on(const std::string& job, const std::string&) override {
    if (jobs[job].phase != Phase::kStands) return Status(Code::kFailedPrecondition, "it has not stopped");
    jobs[job].phase = Phase::kRuns;
    ++jobs[job].resumed;
    return {};
  }
  int running() const {
    int count = 0;
    for (const auto& [name, job] : jobs) count += job.phase != Phase::kStands && job.steps < kSteps ? 1 : 0;
    return count;
  }

  std::map<std::string, Job> jobs;
  bool never_stops = false;
};

class PausedTrialsTest : public testing::Test {
 protected:
  Study create(std::int64_t trials, std::int64_t parallel) {
    return *Study::create(studies_, line_spec(trials, parallel), clock_);
  }
  Conductor take(Study& study) { return *Conductor::take(study, sampler_, pruner_.get(), runner_, clock_); }
  void run(Conductor& conductor) {
    for (int i = 0; i < 200 && !conductor.is_over(); ++i) {
      ASSERT_TRUE(conductor.step().ok());
      EXPECT_LE(runner_.running(), parallel_);
    }
    EXPECT_TRUE(conductor.is_over());
  }
  static std::set<std::size_t> in_state(const Study& study, TrialState state) {
    std::set<std::size_t> found;
    for (std::size_t i = 0; i < study.state().history().trials.size(); ++i) {
      if (study.state().history().trials[i].state == state) found.insert(i);
    }
    return found;
  }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  storage::Location studies_{memory_, "studies"};
  TableSampler sampler_;
  SteppingRunner runner_;
  std::unique_ptr<TrialPruner> pruner_ =
      *make_pruner("asha:min_resource=1,reduction_factor=2,check_fidelity=false,pause=true");
  int parallel_ = 2;
};

// Rungs are the steps 1, 2, 4 and 8. Only the best one of all passes three of them by its rank.
TEST_F(PausedTrialsTest, TheBestComeToTheEndAndTheOthersStandWhereTheyWereBeaten) {
  Study study = create(8, 2);
  Conductor conductor = take(study);
  run(conductor);
  EXPECT_TRUE(in_state(study, TrialState::kComplete).contains(3));
  EXPECT_EQ(in_state(study, TrialState::kComplete).size() + in_state(study, TrialState::kPruned).size(), 8u);
  EXPECT_LT(runner_.jobs["s-0"].steps, 4) << "the worst one";
  int steps = 0, resumed = 0;
  for (const auto& [name, job] : runner_.jobs) {
    steps += job.steps;
    resumed += job.resumed;
  }
  EXPECT_LT(steps, 8 * kSteps * 3 / 4);
  EXPECT_GT(resumed, 0);
  for (const std::size_t i : in_state(study, TrialState::kPruned)) {
    EXPECT_NE(study.state().record(i).why.find("trials there"), std::string::npos) << study.state().record(i).why;
    EXPECT_NE(study.state().record(i).why.find("it was paused, and the study has ended: its 8 trials have been made"),
              std::string::npos)
        << study.state().record(i).why;
    EXPECT_EQ(study.state().record(i).seconds, runner_.jobs["s-" + std::to_string(i)].steps);
  }
}

TEST_F(PausedTrialsTest, APromotedTrialGoesOnWhereItWas) {
  Study study = create(8, 1);
  parallel_ = 1;
  Conductor conductor = take(study);
  run(conductor);
  for (const auto& [name, job] : runner_.jobs) EXPECT_LE(job.steps, kSteps);
  const auto& best = study.state().history().trials[3].series[0];
  ASSERT_EQ(best.size(), static_cast<std::size_t>(kSteps));
  for (int step = 1; step <= kSteps; ++step) EXPECT_EQ(best[static_cast<std::size_t>(step - 1)].step, step);
  EXPECT_EQ(study.state().record(3).attempts, 1);
}

// Wherever it is killed, what is decided next is the same.
TEST_F(PausedTrialsTest, KilledAfterAnyStepItEndsTheSame) {
  Study calm = create(8, 2);
  {
    Conductor conductor = take(calm);
    run(conductor);
  }
  const auto complete = in_state(calm, TrialState::kComplete);
  runner_.jobs.clear();
  StudySpec spec = calm.spec();
  spec.name = "harried";
  Study made = *Study::create(studies_, spec, clock_);
  bool is_over = false;
  for (int i = 0; i < 200 && !is_over; ++i) {
    Study study = *Study::open(studies_, "harried", clock_);
    Conductor conductor = take(study);
    ASSERT_TRUE(conductor.step().ok());
    is_over = conductor.is_over();
    EXPECT_LE(runner_.running(), 2);
  }
  ASSERT_TRUE(is_over);
  EXPECT_EQ(in_state(*Study::open(studies_, "harried", clock_), TrialState::kComplete), complete);
}

TEST_F(PausedTrialsTest, KilledBetweenThePauseAndTheStopItsJobIsStopped) {
  Study study = create(1, 1);
  {
    Conductor conductor = take(study);
    ASSERT_TRUE(conductor.step().ok());
  }
  ASSERT_TRUE(study.report(0, {{1, {{"loss", 0.8}}}}).ok());
  ASSERT_TRUE(study.pause(0, "rank 1 of 1").ok());
  Conductor conductor = take(study);
  ASSERT_TRUE(conductor.step().ok());
  EXPECT_EQ(runner_.jobs["s-0"].phase, SteppingRunner::Phase::kStops);
  run(conductor);
  EXPECT_EQ(study.state().count(TrialState::kComplete), 1u) << "the best of all that wait goes on to the end";
}

TEST_F(PausedTrialsTest, WhatHasNotStoppedYetHasItsPlace) {
  Study study = create(4, 1);
  runner_.never_stops = true;
  Conductor conductor = take(study);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(conductor.step().ok());
  EXPECT_EQ(runner_.jobs.size(), 1u);
  runner_.never_stops = false;
  ASSERT_TRUE(conductor.step().ok());
  EXPECT_EQ(runner_.jobs.size(), 2u);
}

TEST_F(PausedTrialsTest, AJobThatEndsBeforeItIsStoppedIsComplete) {
  Study study = create(1, 1);
  Conductor conductor = take(study);
  ASSERT_TRUE(conductor.step().ok());
  ASSERT_TRUE(study.report(0, {{1, {{"loss", 0.8}}}}).ok());
  ASSERT_TRUE(study.pause(0, "rank 1 of 1").ok());
  runner_.jobs["s-0"].steps = kSteps;
  run(conductor);
  EXPECT_EQ(study.state().history().trials[0].state, TrialState::kComplete);
  EXPECT_EQ(study.state().history().trials[0].values[0], 0.8);
}

TEST_F(PausedTrialsTest, AStudyThatIsStoppedPromotesNothing) {
  Study study = create(8, 2);
  Conductor conductor = take(study);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(conductor.step().ok());
  ASSERT_GT(study.state().count(TrialState::kPaused), 0u);
  ASSERT_TRUE(study.close("stopped by ann").ok());
  run(conductor);
  EXPECT_EQ(study.state().count(TrialState::kPaused), 0u);
  EXPECT_NE(study.state().record(0).why.find("it was paused, and stopped by ann"), std::string::npos)
      << study.state().record(0).why;
}

}  // namespace
}  // namespace trainwarden::tune
