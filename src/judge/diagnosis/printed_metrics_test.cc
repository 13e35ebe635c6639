#include "judge/diagnosis/printed_metrics.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

std::string read(std::string text, bool is_after_evaluation = false) {
  std::string all;
  for (const PrintedMetric& each : metrics_in({7, is_after_evaluation, std::move(text)}))
    all += fmt::format("{}{}{}={}", all.empty() ? "" : "; ", each.is_of_training ? "T:" : "", each.name, each.value);
  return all;
}

TEST(PrintedMetrics, TakesWhatIsCalledAnEvaluation) {
  EXPECT_EQ(read("epoch 3 loss 0.2393 val_acc 0.985 balanced 0.973"), "val acc=0.985; balanced=0.973");
  EXPECT_EQ(read("epoch 1: train logloss 0.29 valid logloss 0.28 auc 0.91 (1.1s)"),
            "T:train logloss=0.29; valid logloss=0.28; auc=0.91");
  EXPECT_EQ(read("      run  train 0.03120  val rmse    88.10  (mean model 183.2)"), "val rmse=88.1");
  EXPECT_EQ(read("[12/40] trainLoss=0.3 valLoss=0.4 testAcc=87.5%"), "T:train loss=0.3; val loss=0.4; test acc=0.875");
  EXPECT_EQ(read("{'eval_loss': 1.25e-1, 'eval_accuracy': 0.5, 'epoch': 3.0}"), "eval loss=0.125; eval accuracy=0.5");
}

TEST(PrintedMetrics, TellsTheTrainingApart) {
  EXPECT_EQ(read("train auc 0.97 valid auc 0.69"), "T:train auc=0.97; valid auc=0.69");
  EXPECT_EQ(read("train loss 0.4 acc 0.9", true), "T:train loss=0.4; T:acc=0.9");
  EXPECT_EQ(read("epoch 3: train loss nan, train acc 0.1, val loss nan, val acc 0.2"),
            "T:train loss=nan; T:train acc=0.1; val acc=0.2");
}

TEST(PrintedMetrics, TakesNothingThatIsOfNeither) {
  EXPECT_EQ(read("step 100 loss 0.4 acc 0.9"), "");
  EXPECT_EQ(read("loading 100 test samples"), "");
  EXPECT_EQ(read("val acc nan"), "");
  EXPECT_EQ(read(""), "");
}

TEST(PrintedMetrics, TakesScoresWithoutARoleBehindAnEvaluation) {
  EXPECT_EQ(read("epoch 2 loss 0.31 accuracy 0.87", true), "eval accuracy=0.87");
  EXPECT_EQ(read("epoch 2 loss 0.31 accuracy 0.87", false), "");
}

TEST(PrintedMetrics, CountsAreNoMetrics) {
  EXPECT_EQ(read("val acc (500 samples): 0.91"), "val acc=0.91");
  EXPECT_EQ(read("loss 0.3 val 0.4"), "");  // a loss, or a score?
  EXPECT_EQ(read("dice 0.57 focal 0.1 val IoU 0.55", true), "val iou=0.55");
  EXPECT_EQ(read("step 350: loss 0.1141, recall@1 0.742", true), "eval recall=0.742");
  EXPECT_EQ(read("val 3/10 acc 0.9 rmse 88"), "acc=0.9; rmse=88");
}

TEST(PrintedMetrics, RefusesWhatTheFormatDoesNotSay) {
  EXPECT_EQ(read_printed_lines(R"({"lines":[[3,true,"val acc 0.5"]]})")->front().step, 3);
  EXPECT_FALSE(read_printed_lines(R"({"lines":[[3,"val acc 0.5"]]})").ok());
  EXPECT_FALSE(read_printed_lines(R"({"lines":7})").ok());
  EXPECT_FALSE(read_printed_lines("[]").ok());
}

}  // namespace
}  // namespace trainwarden::diagnosis
