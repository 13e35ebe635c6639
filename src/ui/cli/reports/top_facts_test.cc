#include "ui/cli/reports/top_facts.h"

#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "trainwarden/hook.h"

namespace trainwarden::cli {
namespace {

class TopGathererTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(testing::TempDir()) / ("trainwarden-top-" + std::to_string(getpid()) + "-" + test);
    std::filesystem::remove_all(folder_);
    HookOptions options;
    options.run_dir = folder_ / "run";
    options.collections = {{.name = "gradients", .save = SavePolicy::every(1), .keep = KeepForm::reduced()},
                           {.name = "losses", .save = SavePolicy::every(1)}};
    options.labels = {{"total_steps", "10"}};
    auto hook = Hook::open(options);
    ASSERT_TRUE(hook.ok()) << hook.status().to_string();
    hook_ = *std::move(hook);
  }
  void TearDown() override {
    hook_.reset();
    std::filesystem::remove_all(folder_);
  }

  void step(Mode mode, float loss, std::array<float, 4> gradient = {0, 1, -2, 0}) {
    constexpr std::array<std::string_view, 1> kLosses = {"losses"};
    hook_->set_mode(mode);
    hook_->save_tensor(hook_->declare("loss", kLosses), TensorView::of(&loss, DType::kFloat32, Shape{}));
    hook_->save_tensor("gradient/fc", TensorView::of(gradient.data(), DType::kFloat32, Shape{4}));
    hook_->end_step();
    ASSERT_TRUE(hook_->flush().ok());
  }
  std::unique_ptr<TopGatherer> open() {
    auto gatherer = TopGatherer::open(folder_ / "run");
    EXPECT_TRUE(gatherer.ok()) << gatherer.status().to_string();
    return *std::move(gatherer);
  }

  std::filesystem::path folder_;
  std::unique_ptr<Hook> hook_;
};

TEST_F(TopGathererTest, TellsOfARunBeforeItsFirstStep) {
  const auto gatherer = open();
  const TopFacts& facts = gatherer->facts();
  EXPECT_EQ(facts.run, "run");
  EXPECT_TRUE(facts.running);
  EXPECT_EQ(facts.place, "no step yet");
  EXPECT_EQ(facts.done_steps, 0);
  EXPECT_TRUE(facts.losses.empty());
}

TEST_F(TopGathererTest, CountsStepsOfTraining) {
  step(Mode::kTrain, 4);
  step(Mode::kEval, 3);
  step(Mode::kTrain, 2);
  const auto gatherer = open();
  const TopFacts& facts = gatherer->facts();
  EXPECT_EQ(facts.done_steps, 2);
  EXPECT_EQ(facts.total, 10);
  EXPECT_EQ(facts.place, "step 2 (train 1)");
}

TEST_F(TopGathererTest, TakesALossOfEachModeForASeries) {
  step(Mode::kTrain, 4);
  step(Mode::kEval, 8);
  const auto gatherer = open();
  step(Mode::kTrain, 2);
  step(Mode::kTrain, 3);
  ASSERT_TRUE(gatherer->refresh().ok());
  const std::vector<LossFacts>& losses = gatherer->facts().losses;
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].name, "train loss");
  EXPECT_EQ(losses[0].points.size(), 3u);
  EXPECT_EQ(losses[0].points[1].x, 2) << "a global step";
  EXPECT_EQ(losses[0].last, 3);
  EXPECT_EQ(losses[0].lowest, 2);
  EXPECT_EQ(losses[0].last_step, 3);
  EXPECT_EQ(losses[1].last, 8);
}

TEST_F(TopGathererTest, TellsHowTheTensorsAre) {
  constexpr float kFactNan = std::numeric_limits<float>::quiet_NaN();
  step(Mode::kTrain, 4, {0, 0, 0, 9});
  step(Mode::kTrain, 4, {0, kFactNan, -3, std::numeric_limits<float>::infinity()});
  const auto gatherer = open();
  ASSERT_EQ(gatherer->facts().health.size(), 1u);
  const HealthFacts& health = gatherer->facts().health[0];
  EXPECT_EQ(health.collection, "gradients");
  EXPECT_EQ(health.step, 1);
  EXPECT_EQ(health.tensors, 1u);
  EXPECT_EQ(health.nan_count, 1u);
  EXPECT_EQ(health.inf_count, 1u);
  EXPECT_EQ(health.zero_count, 1u);
  EXPECT_EQ(health.count, 4u);
  EXPECT_EQ(health.largest_name, "gradient/fc");
}

TEST_F(TopGathererTest, LooksAtTheProcessThatTrains) {
  step(Mode::kTrain, 4);
  const auto gatherer = open();
  ASSERT_TRUE(gatherer->facts().process.has_value()) << gatherer->facts().process_note;
  EXPECT_EQ(gatherer->facts().process->pid, getpid());
}

TEST_F(TopGathererTest, TellsWhenTheTrainingHasEnded) {
  step(Mode::kTrain, 4);
  ASSERT_TRUE(hook_->close().ok());
  const auto gatherer = open();
  EXPECT_FALSE(gatherer->facts().running);
  EXPECT_EQ(gatherer->facts().state, "completed");
  EXPECT_FALSE(gatherer->facts().process.has_value());
}

TEST_F(TopGathererTest, LeavesPointsOutOfALongSeriesButNoneThatIsNoNumber) {
  for (int i = 0; i < 5000; ++i) {
    const float loss = i == 1001 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i);
    hook_->set_mode(Mode::kTrain);
    hook_->save_scalar("rate", loss);
    hook_->end_step();
    if (i % 1000 == 0) {
      ASSERT_TRUE(hook_->flush().ok());  // so many steps may wait for the writer, and no more
    }
  }
  ASSERT_TRUE(hook_->flush().ok());
  const auto gatherer = open();
  const LossFacts& rate = gatherer->facts().losses.at(0);
  EXPECT_LE(rate.points.size(), 4096u);
  EXPECT_GE(rate.points.size(), 2000u);
  EXPECT_EQ(rate.points.back().x, 4999);
  EXPECT_TRUE(std::any_of(rate.points.begin(), rate.points.end(), [](ChartPoint p) { return std::isnan(p.y); }));
}

TEST_F(TopGathererTest, SaysThatThereIsNoRun) {
  EXPECT_EQ(TopGatherer::open(folder_ / "nothing").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::cli
