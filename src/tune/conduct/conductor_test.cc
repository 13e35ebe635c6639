#include "tune/conduct/conductor.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"
#include "tune/conduct/conduct_testing.h"
#include "tune/conduct/thin_series.h"

namespace trainwarden::tune {
namespace {

class AnySampler : public TrialSampler {
 public:
  std::string_view name() const override { return "any"; }
  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    Random random = random_of(history, number);
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, random_point(history.space, random));
    return Suggestion{std::move(point), {}};
  }
};

// Trials that report their x at each look, and end at the third.
class FakeRunner : public TrialRunner {
 public:
  struct Job {
    double x = 0;
    int looks = 0;
    bool stopped = false;
    std::string verdict;
  };

  Status start(const std::string& job, const TriedValues& values) override {
    if (jobs.contains(job)) return Status(Code::kAlreadyExists, "it is there");
    if (refuses) return Status(Code::kInvalidArgument, "the job has mistakes");
    if (is_unsure && starts == 0 && ++unsure == 1) {
      jobs[job].x = std::get<double>(values.at("x"));
      return Status(Code::kUnavailable, "nobody knows whether it was taken");
    }
    jobs[job].x = std::get<double>(values.at("x"));
    ++starts;
    return {};
  }
  Result<TrialLook> look(const std::string& job) override {
    if (!jobs.contains(job)) return Status(Code::kNotFound, "it was never started");
    Job& one = jobs[job];
    TrialLook look;
    ++one.looks;
    for (int step = 1; step <= one.looks; ++step) look.series[metric].push_back({step, one.x});
    look.verdict = one.verdict;
    look.known = {metric};
    if (one.looks >= 3) look.end = TrialEnd{};
    return look;
  }
  Status stop(const std::string& job, const std::string&) override {
    jobs[job].stopped = true;
    return {};
  }
  Status go_on(const std::string&, const std::string&) override {
    return Status(Code::kFailedPrecondition, "nothing is paused here");
  }

  std::map<std::string, Job> jobs;
  std::string metric = "loss";
  int starts = 0;
  int unsure = 0;
  bool refuses = false;
  bool is_unsure = false;  // of the first one nobody knows whether it runs; it does
};

class SecondIsHopeless : public TrialPruner {
 public:
  std::string_view name() const override { return "second"; }
  PruneAnswer judge(const History& history, std::size_t trial) override {
    if (trial != 1 || history.trials[trial].series[0].size() < 2) return {};
    return {true, "it is the second"};
  }
};

class ConductorTest : public testing::Test {
 protected:
  Study create(std::int64_t trials, std::int64_t parallel) {
    return *Study::create(studies_, line_spec(trials, parallel), clock_);
  }
  Conductor take(Study& study, TrialPruner* pruner = nullptr) {
    auto conductor = Conductor::take(study, sampler_, pruner, runner_, clock_);
    EXPECT_TRUE(conductor.ok()) << conductor.status().to_string();
    return *std::move(conductor);
  }
  void run(Conductor& conductor) {
    for (int i = 0; i < 100 && !conductor.is_over(); ++i) ASSERT_TRUE(conductor.step().ok());
    EXPECT_TRUE(conductor.is_over());
  }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  storage::Location studies_{memory_, "studies"};
  AnySampler sampler_;
  FakeRunner runner_;
};

TEST_F(ConductorTest, RunsSoManyAtOnceAsTheStudySays) {
  Study study = create(5, 2);
  Conductor conductor = take(study);
  ASSERT_TRUE(conductor.step().ok());
  EXPECT_EQ(runner_.starts, 2);
  ASSERT_TRUE(conductor.step().ok());
  EXPECT_EQ(runner_.starts, 2);
  run(conductor);
  EXPECT_EQ(runner_.starts, 5);
  EXPECT_EQ(study.state().count(TrialState::kComplete), 5u);
  EXPECT_EQ(conductor.why_over(), "the study has ended: its 5 trials have been made");
  for (const StudyTrial& trial : study.state().history().trials) {
    EXPECT_EQ(trial.values[0], trial.point[0]);
    EXPECT_EQ(trial.series[0].size(), 3u);
  }
}

TEST_F(ConductorTest, PrunesAndStopsWhatIsPruned) {
  Study study = create(3, 1);
  SecondIsHopeless pruner;
  Conductor conductor = take(study, &pruner);
  run(conductor);
  EXPECT_EQ(study.state().history().trials[1].state, TrialState::kPruned);
  EXPECT_EQ(study.state().record(1).why, "it is the second");
  EXPECT_TRUE(runner_.jobs["s-1"].stopped);
  EXPECT_FALSE(runner_.jobs["s-0"].stopped);
}

TEST_F(ConductorTest, AVerdictEndsATrialWithoutAComparison) {
  Study study = create(2, 1);
  Conductor conductor = take(study);
  ASSERT_TRUE(conductor.step().ok());
  runner_.jobs["s-0"].verdict = "the loss is NaN from step 3 on";
  run(conductor);
  EXPECT_EQ(study.state().history().trials[0].state, TrialState::kPruned);
  EXPECT_EQ(study.state().record(0).why, "the loss is NaN from step 3 on");
  EXPECT_TRUE(study.state().history().trials[0].ended_by_verdict);
  EXPECT_FALSE(study.state().history().trials[1].ended_by_verdict);
  const Study again = *Study::open(studies_, "s", clock_);
  EXPECT_TRUE(again.state().history().trials[0].ended_by_verdict);
}

TEST_F(ConductorTest, AnotherOneGoesOnWhereOneWasKilled) {
  Study study = create(4, 2);
  {
    Conductor killed = take(study);
    ASSERT_TRUE(killed.step().ok());
    ASSERT_TRUE(killed.step().ok());
  }
  // One that was killed between what it wrote and what it started.
  ASSERT_TRUE(study.ask(sampler_, {.job_of = [](std::int64_t n, int a) { return job_of_trial("s", n, a); }}).ok());
  Study later = *Study::open(studies_, "s", clock_);
  Conductor conductor = take(later);
  run(conductor);
  EXPECT_EQ(runner_.starts, 4);
  EXPECT_EQ(later.state().count(TrialState::kComplete), 4u);
}

TEST_F(ConductorTest, OnlyOneConductsAStudy) {
  Study study = create(4, 2), other = *Study::open(studies_, "s", clock_);
  Conductor conductor = take(study);
  const auto second = Conductor::take(other, sampler_, nullptr, runner_, clock_);
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
  EXPECT_NE(second.status().message().find("another process runs the trials of study s"), std::string::npos);
}

TEST_F(ConductorTest, TrialsThatOthersAskedForAreTheirs) {
  Study study = create(2, 1);
  ASSERT_EQ(*study.ask(sampler_, {.worker = "a notebook"}), 0);
  Conductor conductor = take(study);
  run(conductor);
  EXPECT_EQ(runner_.starts, 1);
  EXPECT_EQ(study.state().history().trials[0].state, TrialState::kRunning);
}

TEST_F(ConductorTest, AMetricThatNeverComesFailsTheTrialAndNamesWhatThereIs) {
  Study study = create(1, 1);
  runner_.metric = "lost";
  Conductor conductor = take(study);
  run(conductor);
  EXPECT_EQ(study.state().history().trials[0].state, TrialState::kFailed);
  EXPECT_EQ(study.state().record(0).why, "it has no metric loss; did you mean \"lost\"?; it has lost");
}

TEST_F(ConductorTest, AJobThatIsRefusedIsAFailedTrial) {
  Study study = create(2, 1);
  runner_.refuses = true;
  Conductor conductor = take(study);
  run(conductor);
  EXPECT_EQ(study.state().count(TrialState::kFailed), 2u);
  EXPECT_EQ(study.state().record(0).why, "the job has mistakes");
}

TEST_F(ConductorTest, WhereNobodyKnowsWhetherAJobWasTakenTheNextLookTells) {
  Study study = create(2, 1);
  runner_.is_unsure = true;
  Conductor conductor = take(study);
  run(conductor);
  EXPECT_EQ(study.state().count(TrialState::kComplete), 2u);
  EXPECT_EQ(runner_.starts, 1) << "the first one was not started again";
}

TEST_F(ConductorTest, StopsAllThatRun) {
  Study study = create(4, 2);
  Conductor conductor = take(study);
  ASSERT_TRUE(conductor.step().ok());
  ASSERT_TRUE(conductor.stop_all("stopped by the user").ok());
  EXPECT_TRUE(runner_.jobs["s-0"].stopped && runner_.jobs["s-1"].stopped);
  EXPECT_EQ(study.state().count(TrialState::kFailed), 2u);
}

TEST(ThinSeriesTest, KeepsAHundredthApartAndTheLast) {
  std::vector<Intermediate> series;
  for (int step = 0; step <= 100'000; ++step) series.push_back({step, 1.0 * step});
  const auto kept = values_to_keep(series, -1, true);
  EXPECT_LT(kept.size(), 1000u);
  EXPECT_EQ(kept.front().step, 0);
  EXPECT_EQ(kept.back().step, 100'000);
  EXPECT_TRUE(values_to_keep(series, 100'000, true).empty());
  EXPECT_EQ(values_to_keep({{5, 1}, {5000, 2}}, 4990, false).size(), 0u);
  EXPECT_EQ(values_to_keep({{5, 1}, {5000, 2}}, 4990, true).size(), 1u);
}

}  // namespace
}  // namespace trainwarden::tune
