// What comes again where new batches and new random numbers are meant, and what must stay quiet beside it.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

// Few examinations, as of a heavy training, and what each of them has.
template <class NumbersOf>
TrainingHistory history_of_few(std::initializer_list<int> steps, const NumbersOf& numbers_of) {
  TrainingHistory history;
  int before = 0;
  for (const int step : steps) {
    TrainingUnderTest training;
    training.steps = 1;
    training.numbers = numbers_of(step, step - before);
    training.numbers.push_back({"step", {1.0 * step}});
    training.add_to(history);
    before = step;
  }
  return history;
}

TEST(Repetition, ASeedThatIsSetInEachStepOfAHeavyTraining) {
  const auto confidence = [](double in_each, double seed_by_step) {
    const auto history = history_of_few({0, 1, 16}, [&](int step, int steps) {
      return Numbers{{"seeds", {in_each * std::max(1, steps), 7 + seed_by_step * step}}};
    });
    return confidence_of(diagnose(history), "random_state_repeated");
  };
  EXPECT_GT(confidence(1, 0), 0.8);
  EXPECT_EQ(confidence(1, 1), 0);    // another one in each step
  EXPECT_EQ(confidence(0.5, 0), 0);  // not in each step
}

TEST(Repetition, LightLooksNoteBatchesToo) {
  const auto confidence = [](double light) {
    const auto history = history_of_few({0, 1, 16}, [&](int step, int) {
      return Numbers{{"print_steps", {1.0 * step}}, {"prints", {5}}, {"light_prints", {5, light}}};
    });
    return confidence_of(diagnose(history), "same_batch_repeated");
  };
  EXPECT_GT(confidence(5), 0.1);
  EXPECT_EQ(confidence(6), 0);
}

TEST(Repetition, LabelsThatComeAgainUnderInputsThatAreAugmented) {
  const auto confidence = [](bool are_same, double eval_loss) {
    const auto history = history_of_few({0, 1, 2, 3, 40}, [&](int step, int) {
      return Numbers{
          {"print_steps", {1.0 * step}}, {"prints", {1.0 * step}}, {"label_print", {are_same ? 3.0 : 1.0 * step}},
          {"eval_after", {1.0 * step}},  {"eval_calls", {4}},      {"eval_losses", {4}},
          {"eval_loss", {eval_loss}}};
    });
    return confidence_of(diagnose(history), "same_batch_repeated");
  };
  EXPECT_GT(confidence(true, 3), 0.8);
  EXPECT_GT(confidence(true, 0.7), 0.1);
  EXPECT_LT(confidence(true, 0.7), 0.5);  // as where all samples are in each batch
  EXPECT_EQ(confidence(false, 3), 0);
}

TEST(Repetition, TheSameSamplesInAnyOrder) {
  const auto confidence = [](bool are_others) {
    TrainingHistory history;
    for (int look = 0; look < 10; ++look) {
      TrainingUnderTest training;
      training.steps = 5;
      Values rows;
      for (int i = 0; i < 8; ++i) rows.push_back((i + look) % 8 + (are_others ? 100 * look : 0));
      const double print = 1000 + look;
      training.numbers = {{"row_prints", rows}, {"input_shape", {8, 4}}, {"print_steps", {print}}, {"prints", {print}}};
      training.add_to(history);
    }
    return confidence_of(diagnose(history), "same_batch_repeated");
  };
  EXPECT_GT(confidence(false), 0.1);
  EXPECT_EQ(confidence(true), 0);
}

TEST(Repetition, EpochsThatAreAllShuffledAlike) {
  const auto confidence = [](int different) {
    TrainingHistory history;
    for (int look = 0; look < 12; ++look) {
      TrainingUnderTest training;
      training.steps = 5;
      training.numbers = {
          {"step", {10.0 * look}}, {"print_steps", {10.0 * look}}, {"prints", {1.0 * (look % different)}}};
      if (look % 2 == 1) training.numbers.push_back({"seeds", {1, 7}});
      training.add_to(history);
    }
    return confidence_of(diagnose(history), "random_state_repeated");
  };
  EXPECT_GT(confidence(4), 0.8);
  EXPECT_LT(confidence(12), 0.5);
}

}  // namespace
}  // namespace trainwarden::diagnosis
