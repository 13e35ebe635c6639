#include "tune/study/inheritance.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "store/storage/memory_storage.h"
#include "tune/search/samplers/tpe_sampler.h"
#include "tune/study/study.h"

namespace trainwarden::tune {
namespace {

double bowl(const Point& point) {
  return std::pow(point[0] - 0.3, 2) + std::pow(point[1] - 0.8, 2);
}

StudySpec bowl_spec(const std::string& name, std::vector<std::string> from = {}) {
  StudySpec spec{.name = name,
                 .space = *Space::make({{.name = "x", .min = 0, .max = 1}, {.name = "y", .min = 0, .max = 1}}),
                 .metrics = {{.name = "loss"}},
                 .seed = 5};
  spec.from = std::move(from);
  return spec;
}

class InheritanceTest : public testing::Test {
 protected:
  Result<Study> create(StudySpec spec) { return Study::create(studies_, std::move(spec), clock_); }
  std::string mistake(StudySpec spec) {
    const auto study = create(std::move(spec));
    EXPECT_EQ(study.status().code(), Code::kInvalidArgument);
    return study.status().message();
  }
  void add(Study& study, const TriedValues& values, double loss) {
    ASSERT_TRUE(study.add_finished(values, {.metrics = {{"loss", loss}}}).ok());
  }
  // How many trials it took until one was this good; 200 at most.
  int trials_to(Study& study, double good) {
    const auto sampler = make_tpe_sampler();
    for (int i = 1; i <= 200; ++i) {
      const std::int64_t trial = *study.ask(*sampler, {});
      const double loss = bowl(study.state().history().trials[static_cast<std::size_t>(trial)].point);
      EXPECT_TRUE(study.finish(trial, {.metrics = {{"loss", loss}}}).ok());
      if (loss <= good) return i;
    }
    return 200;
  }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  storage::Location studies_{memory_, "studies"};
};

TEST_F(InheritanceTest, WhatIsKnownIsFoundSooner) {
  int alone = 0, helped = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    StudySpec cold = bowl_spec("cold-" + std::to_string(seed));
    StudySpec warm = bowl_spec("warm-" + std::to_string(seed), {cold.name});
    cold.seed = warm.seed = seed;
    Study first = *create(std::move(cold));
    alone += trials_to(first, 0.0005);
    Study second = *create(std::move(warm));
    helped += trials_to(second, 0.0005);
  }
  EXPECT_LT(2 * helped, alone) << helped << " against " << alone;
}

TEST_F(InheritanceTest, CountsNowhere) {
  Study cold = *create(bowl_spec("cold"));
  const int trials = trials_to(cold, 0.01);
  StudySpec spec = bowl_spec("warm", {"cold"});
  spec.budget.trials = 1;
  spec.metrics[0].threshold = 0.01;  // which the other one has met
  Study warm = *create(std::move(spec));
  EXPECT_EQ(warm.state().inherited().size(), static_cast<std::size_t>(trials));
  EXPECT_TRUE(warm.state().history().trials.empty());
  EXPECT_FALSE(best_of(warm.state().history()));
  EXPECT_EQ(warm.state().trial_seconds(), 0);
  EXPECT_EQ(warm.state().count(TrialState::kComplete), 0u);
  EXPECT_FALSE(end_of_budget(warm.spec(), warm.state(), 0, 0));
  EXPECT_EQ(*warm.ask(*make_tpe_sampler(), {}), 0);
}

TEST_F(InheritanceTest, StaysAsItWasWhateverBecomesOfTheOther) {
  Study cold = *create(bowl_spec("cold"));
  add(cold, {{"x", 0.1}, {"y", 0.2}}, 7);
  ASSERT_TRUE(create(bowl_spec("warm", {"cold"})).ok());
  add(cold, {{"x", 0.2}, {"y", 0.2}}, 8);
  const Study warm = *Study::open(studies_, "warm", clock_);
  ASSERT_EQ(warm.state().inherited().size(), 1u);
  EXPECT_EQ(warm.state().inherited()[0].study, "cold");
  EXPECT_EQ(warm.state().inherited()[0].number, 0);
  EXPECT_EQ(warm.state().searched().trials[0].number, -1);
  EXPECT_EQ(warm.state().searched().trials[0].values[0], 7);
  EXPECT_EQ(warm.damaged(), 0);
  // What it has inherited itself is not handed on, and it has nothing else.
  EXPECT_NE(mistake(bowl_spec("third", {"warm"})).find("it has no finished trial"), std::string::npos);
}

TEST_F(InheritanceTest, TakesFinishedTrialsInAllStates) {
  Study cold = *create(bowl_spec("cold"));
  for (std::int64_t i = 0; i < 4; ++i) {
    ASSERT_EQ(*cold.enqueue({{"x", 0.1}, {"y", 0.1 * static_cast<double>(i)}}), i);
    ASSERT_EQ(*cold.ask(*make_tpe_sampler(), {}), i);
  }
  ASSERT_TRUE(cold.report(0, {{3, {{"loss", 9}}}, {5, {{"loss", 8}}}}).ok());
  ASSERT_TRUE(cold.finish(0, {.state = TrialState::kPruned}).ok());
  ASSERT_TRUE(cold.finish(1, {.state = TrialState::kPruned, .by_verdict = true}).ok());
  ASSERT_TRUE(cold.finish(2, {.state = TrialState::kFailed}).ok());
  const Study warm = *create(bowl_spec("warm", {"cold"}));
  const auto& inherited = warm.state().inherited();
  ASSERT_EQ(inherited.size(), 3u);  // one still runs
  EXPECT_EQ(inherited[0].trial.state, TrialState::kPruned);
  EXPECT_EQ(inherited[0].trial.series[0].size(), 1u);
  EXPECT_EQ(inherited[0].trial.series[0][0].step, 5);
  EXPECT_EQ(inherited[0].trial.series[0][0].value, 8);
  EXPECT_TRUE(inherited[1].trial.ended_by_verdict);
  EXPECT_EQ(inherited[2].trial.state, TrialState::kFailed);
}

TEST_F(InheritanceTest, FirstValuesStandForWhatIsMissing) {
  Study cold = *create(bowl_spec("cold"));
  add(cold, {{"x", 0.1}, {"y", 0.2}}, 7);
  add(cold, {{"x", 0.9}, {"y", 0.2}}, 6);
  StudySpec spec = bowl_spec("warm", {"cold"});
  spec.space = *Space::make({{.name = "kind", .kind = ParameterKind::kChoice, .choices = {"a", "b"}, .first = "b"},
                             {.name = "x", .min = 0, .max = 0.5},
                             {.name = "y", .min = 0, .max = 1},
                             {.name = "z", .min = 1, .max = 2, .when = ActiveWhen{"kind", {"a"}}, .first = 1.5}});
  const Study warm = *create(std::move(spec));
  ASSERT_EQ(warm.state().inherited().size(), 1u);  // 0.9 is out of range
  EXPECT_EQ(warm.spec().space.values_of(warm.state().inherited()[0].trial.point),
            (TriedValues{{"kind", "b"}, {"x", 0.1}, {"y", 0.2}}));
}

TEST_F(InheritanceTest, SaysWhatDoesNotFitAndMakesNothing) {
  Study cold = *create(bowl_spec("cold"));
  EXPECT_NE(mistake(bowl_spec("warm", {"cold"})).find("it has no finished trial"), std::string::npos);
  add(cold, {{"x", 0.1}, {"y", 0.2}}, 7);
  StudySpec wide = bowl_spec("warm", {"cold"});
  wide.space = *Space::make({{.name = "x", .min = 0, .max = 1}, {.name = "rate", .min = 0, .max = 1}});
  EXPECT_NE(mistake(wide).find("trial 0: rate: expected a number from 0 to 1, found nothing"), std::string::npos)
      << mistake(wide);
  StudySpec other_goal = bowl_spec("warm", {"cold"});
  other_goal.metrics[0].goal = Goal::kMaximize;
  EXPECT_NE(mistake(other_goal).find("expected loss to be maximized in study cold as here, found that it is minimized"),
            std::string::npos);
  StudySpec other_metric = bowl_spec("warm", {"cold"});
  other_metric.metrics = {{.name = "lost"}};
  EXPECT_NE(mistake(other_metric).find("has the metric lost, found none; did you mean \"loss\"?"), std::string::npos);
  EXPECT_NE(mistake(bowl_spec("warm", {"cold", "cold"})).find("each once"), std::string::npos);
  EXPECT_EQ(create(bowl_spec("warm", {"cole"})).status().code(), Code::kNotFound);
  EXPECT_EQ(*Study::list(studies_), std::vector<std::string>{"cold"});
}

TEST_F(InheritanceTest, OneThatWasCutOffSaysSo) {
  Study cold = *create(bowl_spec("cold"));
  add(cold, {{"x", 0.1}, {"y", 0.2}}, 7);
  ASSERT_TRUE(create(bowl_spec("warm", {"cold"})).ok());
  const std::string spec = *memory_->read("warm/study.json");
  ASSERT_TRUE(memory_->create_folder("cut").ok());
  ASSERT_TRUE(memory_->put_if_absent("cut/study.json", as_bytes(spec)).ok());
  Study cut = *Study::open(studies_, "cut", clock_);
  const auto trial = cut.ask(*make_tpe_sampler(), {});
  EXPECT_EQ(trial.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(trial.status().message().find("was cut off"), std::string::npos);
}

TEST_F(InheritanceTest, ResultsOfTheSameCodeAreTheirsToo) {
  Study cold = *create(bowl_spec("cold"));
  ASSERT_EQ(*cold.enqueue({{"x", 0.1}, {"y", 0.2}}), 0);
  AskOptions options;
  options.fingerprint = "sha256:1";
  ASSERT_EQ(*cold.ask(*make_tpe_sampler(), options), 0);
  ASSERT_TRUE(cold.finish(0, {.metrics = {{"loss", 7}}}).ok());
  Study warm = *create(bowl_spec("warm", {"cold"}));
  ASSERT_EQ(*warm.enqueue({{"x", 0.1}, {"y", 0.2}}), 0);
  EXPECT_EQ(*warm.ask(*make_tpe_sampler(), options), 1);
  EXPECT_EQ(warm.state().history().trials[0].values[0], 7);
  EXPECT_EQ(warm.state().record(0).why, "the same values as trial 0 of cold");
  Study hand = *create(bowl_spec("hand", {"cold"}));
  ASSERT_EQ(*hand.enqueue({{"x", 0.1}, {"y", 0.2}}), 0);
  EXPECT_EQ(*hand.ask(*make_tpe_sampler(), {}), 0);  // nobody says what it runs
}

}  // namespace
}  // namespace trainwarden::tune
