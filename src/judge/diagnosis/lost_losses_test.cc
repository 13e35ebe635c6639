// Losses that are no numbers any more: what has led to that, and that nobody calls such a training right.
#include <gtest/gtest.h>

#include <limits>

#include <fmt/ranges.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinite = std::numeric_limits<double>::infinity();

// Places as of an input: mean, deviation, minimum, maximum, zeros, share that is not finite.
Values spread(double largest, double not_finite) {
  return {0, largest / 2, -largest, largest, 0, not_finite};
}

// A few ordinary looks, and then some at which both sides of the loss are these.
Diagnosis with_sides(const Values& predicted, const Values& target) {
  return diagnose(history_of_looks([&](int look) {
    const bool is_late = look >= 7;
    const double loss = is_late && predicted[5] > 0 ? kNan : 0.5;
    return Numbers{{"predicted", is_late ? predicted : spread(1, 0)},
                   {"target", is_late ? target : spread(1, 0)},
                   {"look_steps", {static_cast<double>(look)}},
                   {"looks", {loss}}};
  }));
}

TEST(LostLosses, AreNoneOfTargetsThatAreMadeOfTheAnswers) {
  EXPECT_NE(first_cause(with_sides(spread(1, 1), spread(1, 1))), "bad_samples");
  EXPECT_NE(first_cause(with_sides(spread(1, 0.3), spread(1, 0.3))), "bad_samples");
  EXPECT_EQ(first_cause(with_sides(spread(1, 0), spread(1, 1))), "bad_samples");
  EXPECT_EQ(first_cause(with_sides(spread(1, 1), spread(1, 0.03))), "bad_samples");
}

TEST(LostLosses, AreNoneOfInputsThatABrokenModelHasMade) {
  const auto cause = [](double weight, double share) {
    return first_cause(diagnose(history_of_looks([&](int look) {
      const bool is_late = look >= 7;
      return Numbers{{"input", spread(1, is_late ? share : 0)}, {"weight", {is_late ? weight : 0.3, 0.3}}};
    })));
  };
  EXPECT_EQ(cause(0.3, 1), "bad_samples");
  EXPECT_EQ(cause(kNan, 0.03), "bad_samples");
  EXPECT_NE(cause(kNan, 1), "bad_samples");
}

TEST(LostLosses, MakeNoTargetsThatGrowWithTheAnswersOutliers) {
  const auto is_blamed = [](double answer) {
    const auto numbers = [&](int look) {
      const bool is_late = look >= 7;
      return Numbers{{"predicted", spread(is_late ? answer : 1, 0)},
                     {"target", spread(is_late ? 1e6 : 1, 0)},
                     {"look_steps", {static_cast<double>(look)}},
                     {"looks", {is_late ? 1e9 : 0.5}}};
    };
    return is_told(diagnose(history_of_looks(numbers)), "bad_samples");
  };
  EXPECT_TRUE(is_blamed(1));
  EXPECT_FALSE(is_blamed(1e6));
}

// Of which the first step goes as far as `update` says, and what follows is no number.
TrainingHistory broken_at_once(double update, double gradient) {
  TrainingUnderTest training;
  training.steps = 5;
  training.gradient = {gradient, gradient};
  training.update = update;
  training.loss_at_start = training.loss_at_end = 4.8;
  TrainingHistory history;
  training.add_to(history);
  for (int step = 1; step < 15; ++step) {
    const Values lost = {kNan, kNan};
    take_record(history,
                {{"loss", {kNan}},
                 {"gradient", lost},
                 {"weight", lost},
                 {"update", lost},
                 {"look_steps", {static_cast<double>(step)}},
                 {"looks", {kNan}},
                 {"step", {static_cast<double>(step)}}},
                step);
  }
  return history;
}

TEST(LostLosses, AfterAStepThatLeavesNothingOfTheWeightsAreOfTheRate) {
  for (const double update : {30.0, kInfinite}) {
    const Diagnosis diagnosis = diagnose(broken_at_once(update, 0.5));
    ASSERT_EQ(first_cause(diagnosis), "learning_rate_too_high") << update;
    EXPECT_GT(diagnosis.first()->confidence, 0.9);
    const std::string evidence = fmt::format("{}", fmt::join(diagnosis.first()->evidence, "; "));
    EXPECT_EQ(evidence.find("nan %"), std::string::npos) << evidence;
    EXPECT_EQ(evidence.find("inf"), std::string::npos) << evidence;
    EXPECT_NE(evidence.find("times their size"), std::string::npos) << evidence;
  }
}

TEST(LostLosses, WithoutACauseAreToldAsWhatTheyAre) {
  const Diagnosis diagnosis = diagnose(broken_at_once(0.001, 0.1));
  ASSERT_EQ(first_cause(diagnosis), "training_diverged");
  EXPECT_EQ(diagnosis.first()->statement, "The loss is NaN or infinite from step 1 on");
  EXPECT_EQ(diagnosis.doubt, "14 of 15 looked-at losses are NaN or infinite");
}

TEST(LostLosses, ThatAreGradientsOutOfRangeAreNotOfTheRate) {
  EXPECT_NE(first_cause(diagnose(broken_at_once(kInfinite, kInfinite))), "learning_rate_too_high");
  EXPECT_NE(first_cause(diagnose(broken_at_once(1e6, 1e6))), "learning_rate_too_high");
}

TEST(LostLosses, OfOneStepAreADoubt) {
  TrainingHistory history = TrainingUnderTest().history();
  EXPECT_EQ(diagnose(history).doubt, "");
  take_record(history, {{"look_steps", {200}}, {"looks", {kInfinite}}, {"step", {200}}}, 200);
  const Diagnosis diagnosis = diagnose(history);
  EXPECT_EQ(first_cause(diagnosis), "");
  EXPECT_EQ(diagnosis.doubt, "1 of 41 looked-at losses are NaN or infinite");
}

TEST(LostLosses, OfStepsThatAGradientScalerHasTriedAreNone) {
  TrainingHistory history = TrainingUnderTest().history();
  history.take_signal("amp/skipped", 1, 200);
  take_record(history, {{"look_steps", {200}}, {"looks", {kInfinite}}, {"step", {200}}}, 200);
  EXPECT_NE(diagnose(history).doubt, "");
  take_record(history, {{"look_steps", {201}}, {"looks", {0.2}}, {"step", {201}}}, 201);
  EXPECT_EQ(diagnose(history).doubt, "");
}

TEST(LostLosses, ThatTheRunHasKeptOrTheProgramHasPrintedAreADoubt) {
  TrainingHistory kept = TrainingUnderTest().history();
  kept.saved_loss = kNan;
  EXPECT_EQ(diagnose(kept).doubt, "the last loss that was kept is nan");
  TrainingHistory printed = TrainingUnderTest().history();
  const auto print = [&](const char* loss) {
    printed.take_text("examination/printed",
                      fmt::format(R"({{"lines":[[{},false,"train loss {} val acc 0.5"]]}})", 199, loss));
  };
  print("nan");
  EXPECT_EQ(diagnose(printed).doubt, "the last loss of training that the program said is nan");
  print("0.3");
  EXPECT_EQ(diagnose(printed).doubt, "");
}

}  // namespace
}  // namespace trainwarden::diagnosis
