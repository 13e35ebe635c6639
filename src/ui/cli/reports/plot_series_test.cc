#include "ui/cli/reports/plot_series.h"

#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "trainwarden/hook.h"

namespace trainwarden::cli {
namespace {

constexpr double kPlotNan = std::numeric_limits<double>::quiet_NaN();

TEST(SmoothedTest, LeavesEverythingAsItIsWithoutAShare) {
  EXPECT_EQ(smoothed({3, 1, 2}, 0), (std::vector<double>{3, 1, 2}));
}

TEST(SmoothedTest, ForgetsWhatWasBefore) {
  const std::vector<double> smooth = smoothed({4, 0, 0}, 0.5);
  EXPECT_DOUBLE_EQ(smooth[0], 4) << "the first is not drawn towards zero";
  EXPECT_DOUBLE_EQ(smooth[1], (0.5 * 2 + 0) / 0.75);  // mean of 4 and 0 with weights 1/4 and 1/2
  EXPECT_DOUBLE_EQ(smooth[2], 0.5 / 0.875);
}

TEST(SmoothedTest, PassesOverWhatIsNoNumber) {
  const std::vector<double> smooth = smoothed({2, kPlotNan, 2}, 0.9);
  EXPECT_DOUBLE_EQ(smooth[0], 2);
  EXPECT_TRUE(std::isnan(smooth[1]));
  EXPECT_DOUBLE_EQ(smooth[2], 2);
}

class PlotSeriesTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(testing::TempDir()) / ("trainwarden-plot-" + std::to_string(getpid()) + "-" + test);
    std::filesystem::remove_all(folder_);
    record();
    auto trial = Trial::open(folder_);
    ASSERT_TRUE(trial.ok()) << trial.status().to_string();
    run_ = std::make_unique<views::OpenRun>("run", *std::move(trial));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Steps train 0, 1, 2 and eval 0: a rate, and a weight of which statistics are kept.
  void record() const {
    HookOptions options;
    options.run_dir = folder_;
    options.collections = {{.name = "weights", .save = SavePolicy::every(1), .keep = KeepForm::reduced()},
                           {.name = "words", .tensor_names = {"words"}, .save = SavePolicy::every(1)}};
    const auto hook = *Hook::open(options);
    for (int step = 0; step < 4; ++step) {
      hook->set_mode(step == 2 ? Mode::kEval : Mode::kTrain);
      hook->save_scalar("rate", 10.0 * step);
      const std::array<float, 2> weight = {1.0f + static_cast<float>(step), -8};
      hook->save_tensor("fc.weight", TensorView::of(weight.data(), DType::kFloat32, Shape{2}));
      constexpr std::array<std::string_view, 1> kWords = {"a"};
      hook->save_strings("words", kWords);
      hook->end_step();
    }
    ASSERT_TRUE(hook->close().ok());
  }
  Result<std::vector<PlottedSeries>> plotted(const std::vector<std::string>& tensors,
                                             const PlotQuestion& question = {}) {
    const auto use = run_->use();
    EXPECT_TRUE(use.ok());
    return plotted_series(*use, tensors, question);
  }

  std::filesystem::path folder_;
  std::unique_ptr<views::OpenRun> run_;
};

TEST_F(PlotSeriesTest, DrawsEachModeApartOverGlobalSteps) {
  const auto all = plotted({"rate"});
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(title_of((*all)[0]), "train rate");
  ASSERT_EQ((*all)[0].drawn.size(), 3u);
  EXPECT_EQ((*all)[0].drawn[2].x, 3);
  EXPECT_EQ((*all)[0].drawn[2].y, 30);
  EXPECT_EQ(title_of((*all)[1]), "eval rate");
  EXPECT_EQ((*all)[1].all.last, 20);
}

TEST_F(PlotSeriesTest, DrawsOneModeAlone) {
  const auto all = plotted({"rate"}, {.mode = Mode::kEval});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].points.size(), 1u);
}

TEST_F(PlotSeriesTest, DrawsTheNumberThatWasAskedFor) {
  const auto all = plotted({"fc.weight"}, {.of = "abs_max", .mode = Mode::kTrain});
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_EQ(title_of((*all)[0]), "train abs_max of fc.weight");
  EXPECT_EQ((*all)[0].points.back().value, 8);
}

TEST_F(PlotSeriesTest, DrawsOverTimeFromTheBeginning) {
  const auto all = plotted({"rate"}, {.mode = Mode::kTrain, .by_time = true});
  ASSERT_TRUE(all.ok());
  const std::vector<ChartPoint>& drawn = (*all)[0].drawn;
  EXPECT_GE(drawn.front().x, 0);
  EXPECT_LE(drawn.front().x, drawn.back().x);
  EXPECT_LT(drawn.back().x, 3600);
}

TEST_F(PlotSeriesTest, SaysWhatThereIsNot) {
  EXPECT_EQ(plotted({"nothing"}).status().code(), Code::kNotFound);
  EXPECT_EQ(plotted({"rate"}, {.of = "rubbish"}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(plotted({"rate"}, {.mode = Mode::kPredict}).status().code(), Code::kNotFound);
  const auto words = plotted({"rate", "words"});
  EXPECT_EQ(words.status().code(), Code::kNotFound);
  EXPECT_NE(words.status().message().find("\"words\" has no number to draw"), std::string::npos);
}

TEST(LetterOfTest, BeginsAnewBehindTheLast) {
  EXPECT_EQ(letter_of(0), 'a');
  EXPECT_EQ(letter_of(51), 'Z');
  EXPECT_EQ(letter_of(52), 'a');
}

}  // namespace
}  // namespace trainwarden::cli
