#include "tune/search/pruners/patient_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"
#include "tune/search/pruners/threshold_pruner.h"

namespace trainwarden::tune {
namespace {

PruneAnswer patient_answer(History history, const std::vector<double>& values, const PatientOptions& options,
                           std::unique_ptr<TrialPruner> wrapped = nullptr) {
  const std::size_t trial = add_running(history, values);
  return make_patient_pruner(options, std::move(wrapped))->judge(history, trial);
}

TEST(PatientPrunerTest, WaitsSoManyStepsForAGain) {
  EXPECT_FALSE(patient_answer(minimized_loss(), {5, 4, 4}, {.patience = 2}).prune);
  const PruneAnswer answer = patient_answer(minimized_loss(), {5, 4, 4, 4}, {.patience = 2});
  EXPECT_TRUE(answer.prune);
  EXPECT_EQ(answer.why, "loss has gained nothing on 4 in the 2 steps up to step 4");
  EXPECT_FALSE(patient_answer(minimized_loss(), {5, 4, 4, 3}, {.patience = 2}).prune);
  EXPECT_FALSE(patient_answer(minimized_loss(), {5, 4, 3, 4}, {.patience = 2}).prune);
  EXPECT_FALSE(patient_answer(minimized_loss(), {5}, {.patience = 1}).prune);
}

TEST(PatientPrunerTest, TheGoalSaysWhatAGainIs) {
  EXPECT_TRUE(patient_answer(maximized_f1(), {5, 4, 4, 3}, {.patience = 2}).prune);
  EXPECT_FALSE(patient_answer(maximized_f1(), {1, 2, 3, 4}, {.patience = 2}).prune);
}

TEST(PatientPrunerTest, ASmallGainIsNone) {
  EXPECT_FALSE(patient_answer(minimized_loss(), {5, 4, 3.8, 3.8}, {.patience = 2, .min_delta = 0.1}).prune);
  EXPECT_TRUE(patient_answer(minimized_loss(), {5, 4, 3.8, 3.8}, {.patience = 2, .min_delta = 0.5}).prune);
}

TEST(PatientPrunerTest, CountsStepsAndNotReports) {
  History history = minimized_loss();
  const std::size_t trial = add_trial(history, TrialState::kRunning, {{{100, 1}, {110, 1}}});
  EXPECT_TRUE(make_patient_pruner({.patience = 10}, nullptr)->judge(history, trial).prune);
  EXPECT_FALSE(make_patient_pruner({.patience = 11}, nullptr)->judge(history, trial).prune);
}

TEST(PatientPrunerTest, ThenTheOtherDecides) {
  const auto limit = [] { return make_threshold_pruner({.max = 3}); };
  EXPECT_FALSE(patient_answer(minimized_loss(), {9, 8}, {.patience = 1}, limit()).prune);
  EXPECT_EQ(patient_answer(minimized_loss(), {8, 8}, {.patience = 1}, limit()).why, "loss 8 at step 2 is above 3");
  EXPECT_FALSE(patient_answer(minimized_loss(), {2, 2}, {.patience = 1}, limit()).prune);
}

TEST(PatientPrunerTest, WhatIsNoNumberIsNoGain) {
  EXPECT_TRUE(patient_answer(minimized_loss(), {5, NAN, NAN}, {.patience = 2}).prune);
  EXPECT_FALSE(patient_answer(minimized_loss(), {NAN, NAN, 5}, {.patience = 2}).prune);
  EXPECT_FALSE(patient_answer(minimized_loss(), {NAN, NAN, NAN}, {.patience = 2}).prune);
}

}  // namespace
}  // namespace trainwarden::tune
