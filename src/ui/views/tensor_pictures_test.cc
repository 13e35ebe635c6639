#include "ui/views/tensor_pictures.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;
constexpr float kPixelNan = std::numeric_limits<float>::quiet_NaN();

class PicturesTest : public testing::Test {
 protected:
  Result<Pictures> pictures(const PictureChoice& choice) {
    use_.reset();
    if (!run_) run_ = std::make_unique<OpenRun>("r", written_.open());
    use_.emplace(*run_->use(0ms));
    return tensor_pictures(*use_, "w", choice);
  }

  TestRun written_;
  std::unique_ptr<OpenRun> run_;
  std::optional<OpenRun::Use> use_;
};

TEST_F(PicturesTest, AreStripsOfKernelsOverSteps) {
  // Two kernels of 2 x 2.
  written_.add({.step = 0, .tensors = {shaped(kept("w", {0, 1, 2, 4, -1, -1, -1, -1}), {2, 1, 2, 2})}});
  written_.add({.step = 5, .tensors = {shaped(kept("w", {0, 0, 0, 254, -1, 1, kPixelNan, 0}), {2, 1, 2, 2})}});
  written_.add({.step = 6, .tensors = {kept("w", {1})}});
  const auto strips = pictures({.steps = {0, 5, 6, 7}, .slice = ":,0"});
  ASSERT_TRUE(strips.ok()) << strips.status().to_string();
  EXPECT_EQ(strips->steps, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(strips->left_out, (std::vector<std::int64_t>{6}))
      << "7 is not there: the nearest is 6, which is listed once";
  EXPECT_EQ(strips->why_left_out, "step 6 has the shape [1], not [2, 1, 2, 2]");
  EXPECT_EQ(strips->rows, 2);
  using Pixels = std::vector<std::uint8_t>;
  const Pixels expected{1,   65,  128, 255,   // kernel 0, step 0
                        1,   1,   1,   255,   // kernel 0, step 5
                        128, 128, 128, 128,   // kernel 1, step 0: all the same
                        1,   255, 0,   128};  // kernel 1, step 5
  EXPECT_EQ(strips->pixels, expected);
  EXPECT_EQ(strips->low, (std::vector<double>{0, 0, -1, -1}));
  EXPECT_EQ(strips->high, (std::vector<double>{4, 254, -1, 1}));
  EXPECT_EQ(strips->nans, (std::vector<double>{0, 0, 0, 1}));
}

TEST_F(PicturesTest, PoolWhatIsLarger) {
  written_.add({.step = 0, .tensors = {shaped(kept("w", {1, 3, 5, -9, 0, 0}), {2, 3})}});
  const auto mean = pictures({.steps = {0}, .size = 2});
  ASSERT_TRUE(mean.ok()) << mean.status().to_string();
  EXPECT_EQ(mean->height, 1);
  EXPECT_EQ(mean->width, 2);
  EXPECT_EQ(mean->full_width, 3);
  EXPECT_DOUBLE_EQ(mean->low[0], -1.25);
  EXPECT_DOUBLE_EQ(mean->high[0], 2.5);
  const auto farthest = pictures({.steps = {0}, .size = 2, .pooling = Pooling::kMax});
  EXPECT_EQ(farthest->low[0], -9);
  EXPECT_EQ(farthest->high[0], 5);
}

TEST_F(PicturesTest, SayWhatIsWrong) {
  written_.add({.step = 0, .tensors = {shaped(kept("w", std::vector<float>(16, 1)), {2, 2, 2, 2})}});
  EXPECT_EQ(pictures({.steps = {0}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(pictures({.steps = {}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(pictures({.steps = {0}, .slice = "0,:0"}).status().code(), Code::kInvalidArgument);
}

TEST_F(PicturesTest, OfAStepWithStatisticsAloneShowTheNearestWithTheValue) {
  written_.add({.step = 0, .tensors = {shaped(kept("w", {0, 1, 2, 3}), {2, 2})}});
  for (std::int64_t step = 1; step < 10; ++step) written_.add({.step = step, .tensors = {reduced("w", {1, 2, 3, 4})}});
  written_.add({.step = 10, .tensors = {shaped(kept("w", {0, 1, 2, 4}), {2, 2})}});
  const auto strip = pictures({.steps = {2, 4, 8, 10}});
  ASSERT_TRUE(strip.ok()) << strip.status().to_string();
  EXPECT_EQ(strip->steps, (std::vector<std::int64_t>{0, 10}));
  EXPECT_EQ(strip->high, (std::vector<double>{3, 4}));
  EXPECT_TRUE(strip->left_out.empty());
  std::vector<std::int64_t> instead;
  for (const InsteadOf& step : strip->instead) instead.insert(instead.end(), {step.asked, step.shown});
  EXPECT_EQ(instead, (std::vector<std::int64_t>{2, 0, 4, 0, 8, 10}));
}

TEST_F(PicturesTest, OfATensorThatWasNeverKeptWholeAreNone) {
  written_.add({.step = 0, .tensors = {reduced("w", {1, 2})}});
  EXPECT_EQ(pictures({.steps = {0}}).status().code(), Code::kOutOfRange);
}

}  // namespace
}  // namespace trainwarden::views
