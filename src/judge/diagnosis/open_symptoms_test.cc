// What is told where the course of a training shows something that no detector explains, and what a program prints of
// its evaluations.
#include <gtest/gtest.h>

#include <functional>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

// A training of 200 steps that prints a line behind each 20th.
Diagnosis with_lines(const std::function<std::string(double)>& line, TrainingUnderTest training = {}) {
  TrainingHistory history;
  training.add_to(history);
  for (std::int64_t step = 20; step <= 200; step += 20) {
    history.take_text("examination/printed",
                      fmt::format(R"({{"lines":[[{},true,"{}"]]}})", step, line(static_cast<double>(step) / 200)));
  }
  return diagnose(history);
}

TEST(PrintedEvaluation, ThatBecomesWorseIsOverfitting) {
  const Diagnosis worse =
      with_lines([](double done) { return fmt::format("val rmse {}", 2 + 8 * (done - 0.55) * (done - 0.55)); });
  ASSERT_EQ(first_cause(worse), "overfitting");
  EXPECT_NE(worse.first()->evidence.front().find("\"val rmse\" was 2"), std::string::npos)
      << worse.first()->evidence.front();
  EXPECT_FALSE(is_told(with_lines([](double done) { return fmt::format("val rmse {}", 3 - done); }), "overfitting"));
  EXPECT_FALSE(
      is_told(with_lines([](double done) { return fmt::format("val f1 {}", 0.5 + 0.4 * done); }), "overfitting"));
  EXPECT_TRUE(
      is_told(with_lines([](double done) { return fmt::format("val f1 {}", 0.9 - 0.5 * done); }), "overtraining"));
}

TEST(PrintedEvaluation, ThatExplainsNothing) {
  const auto weight = [](double most) {
    return confidence_of(with_lines([most](double done) { return fmt::format("valid R2 {:.3f}", most - 0.2 * done); }),
                         "labels_misaligned");
  };
  EXPECT_GT(weight(0), 0.2);
  EXPECT_LT(weight(0), 0.5);  // perhaps
  EXPECT_EQ(weight(0.3), 0);
}

TEST(PrintedEvaluation, CountsWhereNothingWasMeasured) {
  const auto poor = [](double) { return std::string("test acc 52.0%"); };
  EXPECT_TRUE(is_told(with_lines(poor), "overfitting"));  // 90 % are right in training
  EXPECT_NEAR(with_lines(poor).symptoms.eval_accuracy, 0.52, 1e-9);
  TrainingUnderTest measured;
  measured.numbers = {{"eval_after", {100}}, {"eval_calls", {1}}, {"eval_loss", {0.2}}, {"eval_accuracy", {0.9}}};
  EXPECT_NEAR(with_lines(poor, measured).symptoms.eval_accuracy, 0.9, 1e-9);
}

TEST(PrintedEvaluation, OfALossThatIsOfAnotherSizeSaysNothing) {
  const auto loss = [](double) { return std::string("val loss 0.2"); };
  EXPECT_NEAR(with_lines(loss).symptoms.eval_late, 0.2, 1e-9);
  EXPECT_TRUE(std::isnan(with_lines([](double) { return std::string("val loss 412.0"); }).symptoms.eval_late));
}

TEST(PrintedEvaluation, OfSeveralTasksOneOfWhichGetsBetter) {
  const auto confidence = [](bool is_better) {
    return confidence_of(with_lines([&](double done) {
                           return fmt::format("val acc {}, weight mae {}", is_better ? 0.2 + 0.6 * done : 0.5,
                                              2 + 8 * (done - 0.4) * (done - 0.4));
                         }),
                         "overtraining");
  };
  EXPECT_GT(confidence(false), 0.8);
  EXPECT_LT(confidence(true), 0.5);
}

TEST(PrintedEvaluation, ThatFindsNoPositive) {
  const auto confidence = [](const char* words, double late) {
    return confidence_of(
        with_lines([&](double done) { return fmt::format("val auc 0.7 {} {}", words, done > 0.8 ? late : 0.0); }),
        "predicts_one_class");
  };
  EXPECT_GT(confidence("recall 0.000 f1", 0), 0.8);
  EXPECT_EQ(confidence("recall 0.000 f1", 0.1), 0);
  EXPECT_EQ(confidence("recall", 0), 0);  // at some rank, perhaps
  EXPECT_GT(confidence("recall 0.000 precision", 0), 0.8);
}

TEST(PrintedEvaluation, FarBehindWhatIsPrintedOfTheTraining) {
  const auto confidence = [](double score) {
    return confidence_of(with_lines([&](double) { return fmt::format("train auc 0.97 valid auc {}", score); }),
                         "overfitting");
  };
  EXPECT_GT(confidence(0.69), 0);
  EXPECT_EQ(confidence(0.93), 0);
}

TEST(PrintedEvaluation, CountsWhatIsDamaged) {
  TrainingHistory history;
  TrainingUnderTest().add_to(history);
  history.take_text("examination/printed", R"({"lines":"none"})");
  EXPECT_EQ(history.unreadable, 1);
}

TEST(OpenSymptoms, OfATrainingThatHardlyLearnsNameWhatMayLieBehindIt) {
  TrainingUnderTest training;
  training.loss_at_end = 0.69;
  training.update = 0.01;
  const Diagnosis diagnosis = training.diagnosis();
  EXPECT_EQ(first_cause(diagnosis), "");
  EXPECT_TRUE(is_told(diagnosis, "labels_misaligned"));
  EXPECT_TRUE(is_told(diagnosis, "inputs_scrambled"));
  EXPECT_FALSE(is_told(TrainingUnderTest().diagnosis(), "labels_misaligned"));
}

TEST(OpenSymptoms, OfAnEvaluationFarBehindNameItsInputs) {
  TrainingUnderTest training;
  training.numbers = {{"eval_after", {190}}, {"eval_calls", {1}}, {"eval_loss", {0.6}}};
  const Diagnosis diagnosis = training.diagnosis();
  EXPECT_TRUE(is_told(diagnosis, "overfitting"));
  EXPECT_TRUE(is_told(diagnosis, "evaluation_preprocessing"));
  training.numbers.back().second = {0.2};
  EXPECT_FALSE(is_told(training.diagnosis(), "evaluation_preprocessing"));
}

TEST(OpenSymptoms, OfALossThatStopsBeingANumberNameOperations) {
  TrainingUnderTest training;
  training.steps = 100;
  TrainingHistory history;
  training.add_to(history);
  training.loss_at_start = training.loss_at_end = std::nan("");
  EXPECT_FALSE(is_told(diagnose(history), "numerically_unstable_operation"));
  for (std::int64_t step = 100; step < 200; step += 5) {
    history.take_text("examination/layout", R"({"layout":[["step",1],["look_steps",1],["looks",1]]})");
    history.take_numbers(Values{static_cast<double>(step), static_cast<double>(step), std::nan("")}, step);
  }
  EXPECT_TRUE(is_told(diagnose(history), "numerically_unstable_operation"));
}

// A sum as a loss, of a training that has just begun: whether it learns is not known before it ends.
TEST(OpenSymptoms, OfAYoungTrainingSayNothing) {
  TrainingUnderTest training;
  training.steps = 50;
  training.loss_at_end = 0.65;
  training.graph = R"([["NllLoss",[1],{"reduction":2}],["parameter",[],{"number":0}]])";
  TrainingHistory history = training.history();
  EXPECT_TRUE(is_told(diagnose(history), "loss_reduction"));
  history.has_ended = false;
  EXPECT_FALSE(is_told(diagnose(history), "loss_reduction"));
}

}  // namespace
}  // namespace trainwarden::diagnosis
