#include "tune/study/repeats.h"

#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"
#include "tune/study/study.h"

namespace trainwarden::tune {
namespace {

// Nothing but x = 1 and x = 2 in turns.
class TwoPoints : public TrialSampler {
 public:
  std::string_view name() const override { return "two"; }
  Result<Suggestion> suggest(const History&, std::int64_t number) override {
    return Suggestion{{number % 2 == 0 ? 1.0 : 2.0}, {}};
  }
};

class RepeatsTest : public testing::Test {
 protected:
  Study create(Repeats repeats = Repeats::kAnswer) {
    StudySpec spec{.name = "s",
                   .space = *Space::make({{.name = "x", .kind = ParameterKind::kInteger, .min = 1, .max = 9}}),
                   .metrics = {{.name = "loss"}, {.name = "size", .strategy = Strategy::kStore}}};
    spec.repeats = repeats;
    return *Study::create(studies_, std::move(spec), clock_);
  }
  std::int64_t ask(Study& study, const std::string& fingerprint = "") {
    AskOptions options;
    options.fingerprint = fingerprint;
    options.answered = [this](std::int64_t trial) { answered_.push_back(trial); };
    const auto number = study.ask(sampler_, options);
    EXPECT_TRUE(number.ok()) << number.status().to_string();
    return number.value_or(-1);
  }
  void finish(Study& study, std::int64_t trial, double loss) {
    ASSERT_TRUE(study.finish(trial, {.metrics = {{"loss", loss}, {"size", 4}}}).ok());
  }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  storage::Location studies_{memory_, "studies"};
  TwoPoints sampler_;
  std::vector<std::int64_t> answered_;
};

TEST_F(RepeatsTest, WhatHasBeenTriedEndsAtOnceWithWhatIsKnown) {
  Study study = create();
  EXPECT_EQ(ask(study), 0);
  EXPECT_EQ(ask(study), 1);
  finish(study, 0, 0.5);
  EXPECT_EQ(ask(study), 3);  // 2 is 0 again; 1 still runs, so 3 runs too
  EXPECT_EQ(answered_, std::vector<std::int64_t>{2});
  const Study again = *Study::open(studies_, "s", clock_);
  const StudyTrial& trial = again.state().history().trials[2];
  EXPECT_EQ(trial.state, TrialState::kComplete);
  EXPECT_EQ(trial.values, (std::vector<double>{0.5, 4}));
  EXPECT_TRUE(trial.is_repeat);
  EXPECT_EQ(again.state().record(2).why, "the same values as trial 0");
  EXPECT_EQ(again.state().record(2).same_as, 0);
  EXPECT_EQ(again.state().record(2).attempts, 0);
  EXPECT_EQ(again.damaged(), 0);
}

TEST_F(RepeatsTest, ValuesThatAUserNamesAreAnsweredToo) {
  Study study = create();
  EXPECT_EQ(ask(study), 0);
  finish(study, 0, 0.5);
  ASSERT_EQ(*study.enqueue({{"x", std::int64_t{1}}}), 1);
  ASSERT_EQ(*study.enqueue({{"x", std::int64_t{7}}}), 2);
  EXPECT_EQ(ask(study), 2);
  EXPECT_EQ(study.state().history().trials[1].values[0], 0.5);
}

TEST_F(RepeatsTest, OnlyWithTheSameCodeAndData) {
  Study study = create();
  EXPECT_EQ(ask(study, "one"), 0);
  EXPECT_EQ(ask(study, "one"), 1);
  finish(study, 0, 0.5);
  finish(study, 1, 0.6);
  EXPECT_EQ(ask(study, "two"), 2);
  EXPECT_EQ(study.state().record(2).fingerprint, "two");
  finish(study, 2, 0.7);
  EXPECT_EQ(ask(study, kUnknownFingerprint), 3);
  finish(study, 3, 0.8);
  EXPECT_EQ(ask(study, kUnknownFingerprint), 4);
  finish(study, 4, 0.9);
  ASSERT_EQ(*study.enqueue({{"x", std::int64_t{1}}}), 5);
  ASSERT_EQ(*study.enqueue({{"x", std::int64_t{9}}}), 6);
  EXPECT_EQ(ask(study, "two"), 6);
  EXPECT_EQ(study.state().record(5).same_as, 2);
}

TEST_F(RepeatsTest, WhatFailedOrWasPrunedRunsAgain) {
  Study study = create();
  EXPECT_EQ(ask(study), 0);
  EXPECT_EQ(ask(study), 1);
  ASSERT_TRUE(study.finish(0, {.state = TrialState::kFailed}).ok());
  ASSERT_TRUE(study.finish(1, {.state = TrialState::kPruned}).ok());
  EXPECT_EQ(ask(study), 2);
  EXPECT_EQ(ask(study), 3);
  EXPECT_TRUE(answered_.empty());
}

TEST_F(RepeatsTest, MayRunAllTheSame) {
  Study study = create(Repeats::kRun);
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(ask(study), i);
    finish(study, i, 0.5);
  }
  EXPECT_TRUE(answered_.empty());
}

TEST_F(RepeatsTest, ASamplerThatHasNothingNewEndsTheStudy) {
  Study study = create();
  for (std::int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ask(study), i);
    finish(study, i, 0.5);
  }
  const auto none = study.ask(sampler_, {});
  EXPECT_EQ(none.status().code(), Code::kResourceExhausted);
  EXPECT_NE(none.status().message().find("100 times in a row"), std::string::npos) << none.status().message();
  EXPECT_EQ(study.state().history().trials.size(), 102u);
  EXPECT_EQ(study.state().trial_seconds(), 0);
  // What somebody names is still tried.
  ASSERT_EQ(*study.enqueue({{"x", std::int64_t{5}}}), 102);
  EXPECT_EQ(ask(study), 102);
}

}  // namespace
}  // namespace trainwarden::tune
