#include "tune/search/pruners/all.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tune/search/pruners/curves_testing.h"
#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

// Of each pruner one, with which it may be made.
std::vector<std::string> texts_of_pruners() {
  std::vector<std::string> texts;
  for (const std::string_view name : pruner_names()) texts.emplace_back(name == "patient" ? "patient:8" : name);
  return texts;
}

// Trials of all states whose curves fall to a level of their own, with noise; each fiftieth has no curve, a few have
// values that are no numbers. Two objectives, and a constraint.
History many_curves(std::size_t trials, std::int64_t steps) {
  History history =
      history_of({{.name = "loss"},
                  {.name = "size"},
                  {.name = "f1", .goal = Goal::kMaximize, .strategy = Strategy::kConstrain, .threshold = 0.6}},
                 9);
  constexpr TrialState kStates[] = {TrialState::kComplete, TrialState::kRunning, TrialState::kPruned,
                                    TrialState::kFailed};
  for (std::size_t i = 0; i < trials; ++i) {
    Random random(9, i);
    const TrialState state = kStates[i % 4];
    const double level = random.uniform();
    const auto end = state == TrialState::kComplete ? steps : static_cast<std::int64_t>(random.below(steps + 1));
    std::vector<std::vector<Intermediate>> series(3);
    for (std::int64_t step = 1; i % 50 != 49 && step <= end; step += 1 + step / 20) {
      const double left = 1 / (1 + static_cast<double>(step)), noise = 0.1 * random.uniform();
      series[0].push_back({step, level + left + noise});
      series[1].push_back({step, 1 - level});
      series[2].push_back({step, 1 - level - left});
    }
    if (i % 37 == 5 && !series[0].empty()) series[0].back().value = i % 2 == 0 ? NAN : INFINITY;
    add_trial(history, state, std::move(series));
  }
  return history;
}

class EveryPrunerTest : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<TrialPruner> made() const { return *make_pruner(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, EveryPrunerTest, testing::ValuesIn(texts_of_pruners()),
                         [](const auto& each) { return each.param.substr(0, each.param.find(':')); });

TEST_P(EveryPrunerTest, GivesItsName) {
  EXPECT_EQ(made()->name(), GetParam().substr(0, GetParam().find(':')));
}

TEST_P(EveryPrunerTest, LetsATrialAloneGoOn) {
  History history = minimized_loss();
  for (const double value : {9.0, 8.0, 7.0, 6.0}) {
    history.trials.clear();
    add_running(history, {9, 8, 7, value});
    EXPECT_FALSE(made()->judge(history, 0).prune);
  }
}

TEST_P(EveryPrunerTest, LetsATrialWithoutACurveGoOn) {
  History history = many_curves(200, 100);
  const std::size_t without_series = add_trial(history, TrialState::kRunning, {});
  const std::size_t without_values = add_trial(history, TrialState::kRunning, {{}, {}, {}});
  EXPECT_FALSE(made()->judge(history, without_series).prune);
  EXPECT_FALSE(made()->judge(history, without_values).prune);
}

TEST_P(EveryPrunerTest, LetsAllGoOnWhereNothingIsAskedFor) {
  History history = many_curves(40, 30);
  for (StudyMetric& metric : history.metrics) metric.strategy = Strategy::kStore;
  for (std::size_t i = 0; i < history.trials.size(); ++i) EXPECT_FALSE(made()->judge(history, i).prune);
}

TEST_P(EveryPrunerTest, AnswersFromTheHistoryAlone) {
  const History history = many_curves(300, 200);
  History before = history;
  before.trials.resize(100);
  const auto pruner = made();
  for (std::size_t i = 0; i < 300; ++i) {
    if (i < 100) pruner->judge(before, i);
    const PruneAnswer answer = pruner->judge(history, i), again = made()->judge(history, i);
    EXPECT_EQ(answer.prune, again.prune);
    EXPECT_EQ(answer.why, again.why);
    EXPECT_EQ(answer.prune, !answer.why.empty());
  }
}

TEST_P(EveryPrunerTest, MaximizingIsMinimizingTheNegative) {
  const History history = many_curves(120, 100);
  History negative = history;
  for (StudyMetric& metric : negative.metrics) {
    metric.goal = metric.goal == Goal::kMinimize ? Goal::kMaximize : Goal::kMinimize;
    if (metric.threshold) metric.threshold = -*metric.threshold;
  }
  for (StudyTrial& trial : negative.trials) {
    for (double& value : trial.values) value = -value;
    for (auto& curve : trial.series) {
      for (Intermediate& each : curve) each.value = -each.value;
    }
  }
  for (std::size_t i = 0; i < 120; ++i) {
    EXPECT_EQ(made()->judge(history, i).prune, made()->judge(negative, i).prune) << i;
  }
}

TEST_P(EveryPrunerTest, JudgesAmongThousands) {
  const History history = many_curves(4000, 1000);
  const auto pruner = made();
  std::size_t pruned = 0;
  for (std::size_t i = 1; i < 400; i += 4) pruned += pruner->judge(history, i).prune ? 1 : 0;
  EXPECT_LT(pruned, 100u);
}

std::string message_of(std::string_view text) {
  const auto made = make_pruner(text);
  return made.ok() ? std::string("made ") + std::string((*made)->name()) : made.status().message();
}

TEST(MakePrunerTest, ReadsKeys) {
  for (const char* text :
       {"none", "percentile:25",
        "percentile:percentile=12.5,startup_trials=3,warmup_steps=9,interval_steps=2,min_trials=4",
        "median:startup_trials=0", "asha:min_resource=auto,reduction_factor=2,early_stopping=1,check_fidelity=false",
        "hyperband:min_resource=2,max_resource=81,reduction_factor=4,check_fidelity=no", "patient:8,min_delta=0.1",
        "patient:patience=3", "threshold:min=-1,max=1e+5", "wilcoxon:0.05,startup_steps=9",
        "dominated:min_resource=4,min_trials=9,deviations=1.5", " asha : reduction_factor = 3 "}) {
    EXPECT_TRUE(make_pruner(text).ok()) << message_of(text);
  }
}

TEST(MakePrunerTest, KeysAreTakenForWhatTheySay) {
  History history = minimized_loss();
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0}) add_complete(history, {value});
  const std::size_t trial = add_running(history, {2.5});
  EXPECT_TRUE((*make_pruner("percentile:25"))->judge(history, trial).prune);
  EXPECT_TRUE((*make_pruner("percentile"))->judge(history, trial).prune);
  EXPECT_FALSE((*make_pruner("percentile:percentile=60"))->judge(history, trial).prune);
  EXPECT_FALSE((*make_pruner("percentile:25,startup_trials=6"))->judge(history, trial).prune);
  EXPECT_TRUE((*make_pruner("asha"))->judge(history, trial).prune);
  EXPECT_FALSE((*make_pruner("asha:min_resource=2"))->judge(history, trial).prune);
  EXPECT_FALSE((*make_pruner("asha:early_stopping=1"))->judge(history, trial).prune);
  EXPECT_TRUE((*make_pruner("threshold:max=2"))->judge(history, trial).prune);
  EXPECT_FALSE((*make_pruner("threshold:max=1e+5"))->judge(history, trial).prune);
}

TEST(MakePrunerTest, SaysWhatIsWrong) {
  EXPECT_EQ(make_pruner("magic").status().code(), Code::kNotFound);
  EXPECT_NE(message_of("magic").find("none, median, percentile, asha, hyperband"), std::string::npos);
  EXPECT_EQ(make_pruner("").status().code(), Code::kNotFound);
  EXPECT_EQ(make_pruner("asha:reduction=3").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(message_of("asha:min_resorce=3"),
            "pruner asha: expected one of the keys min_resource, reduction_factor, early_stopping, check_fidelity, "
            "pause, found "
            "\"min_resorce\"; did you mean \"min_resource\"?");
  EXPECT_EQ(message_of("asha:reduction_factor=1"),
            "pruner asha: reduction_factor: expected a whole number between 2 and 1000, found \"1\"");
  EXPECT_EQ(message_of("percentile:101"),
            "pruner percentile: percentile: expected a number between 0 and 100, found \"101\"");
  EXPECT_EQ(message_of("patient"), "pruner patient: expected a value of patience, as in patient:8; found none");
  EXPECT_EQ(message_of("none:3"), "pruner none: expected no keys, found \"3\"");
  EXPECT_EQ(message_of("median:"), "pruner median: expected key=value behind the colon, found nothing");
  EXPECT_EQ(message_of("median:startup_trials=2,startup_trials=3"),
            "pruner median: startup_trials: expected one value, found two, found \"3\"");
  for (const char* text : {"median:3", "asha:min_resource=0", "hyperband:max_resource=x", "threshold:min=nan",
                           "threshold:min=inf", "asha:check_fidelity=perhaps", "patient:0", "patient:8,9", "median:=3",
                           "wilcoxon:2", "percentile:nan", "dominated:min_trials=1", "asha:min_resource=1e3"}) {
    EXPECT_EQ(make_pruner(text).status().code(), Code::kInvalidArgument) << text << ": " << message_of(text);
  }
}

TEST(MakePrunerTest, JoinsAndWraps) {
  EXPECT_EQ(message_of("median+threshold:max=1e+5"), "made median+threshold");
  EXPECT_EQ(message_of("threshold:max=3+patient:8+median"), "made threshold+patient+median");
  for (const char* text : {"median+", "+median", "median++asha", "median+magic"}) {
    EXPECT_EQ(make_pruner(text).status().code(), Code::kNotFound) << text;
  }
  std::string many = "none";
  for (std::size_t i = 1; i < kMaxJoinedPruners; ++i) many += "+none";
  EXPECT_TRUE(make_pruner(many).ok());
  EXPECT_EQ(make_pruner(many + "+none").status().code(), Code::kInvalidArgument);
}

TEST(MakePrunerTest, EachOfThoseJoinedMayPrune) {
  History history = minimized_loss();
  const std::size_t gaining = add_running(history, {9, 8, 7}), flat = add_running(history, {7, 7, 7});
  const auto judged = [&](const char* text, std::size_t trial) {
    return (*make_pruner(text))->judge(history, trial).why;
  };
  EXPECT_EQ(judged("threshold:max=3+median", flat), "loss 7 at step 3 is above 3");
  EXPECT_EQ(judged("median+threshold:max=3", flat), "loss 7 at step 3 is above 3");
  EXPECT_EQ(judged("patient:2+threshold:max=3", gaining), "");
  EXPECT_EQ(judged("patient:2+threshold:max=3", flat), "loss 7 at step 3 is above 3");
  EXPECT_EQ(judged("patient:2+median+threshold:max=3", gaining), "loss 7 at step 3 is above 3");
  EXPECT_EQ(judged("threshold:max=99+patient:2", flat), "loss has gained nothing on 7 in the 2 steps up to step 3");
}

}  // namespace
}  // namespace trainwarden::tune
