#include "ui/views/tensor_numbers.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"
#include "ui/views/tensor_histograms.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;
constexpr float kNumberNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class TensorNumbersTest : public testing::Test {
 protected:
  OpenRun::Use& use() {
    use_.reset();
    if (!run_) run_ = std::make_unique<OpenRun>("r", written_.open());
    use_.emplace(*run_->use(0ms));
    return *use_;
  }
  std::shared_ptr<const TensorNumbers> numbers(const std::string& tensor, std::int64_t step) {
    const auto found = tensor_numbers(use(), tensor, step, "", budget_);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *found : nullptr;
  }

  TestRun written_;
  std::unique_ptr<OpenRun> run_;
  std::optional<OpenRun::Use> use_;
  ComputeBudget budget_;
};

TEST_F(TensorNumbersTest, ComeFromWhateverWasKept) {
  written_.add(
      {.step = 0,
       .tensors = {kept("value", {0, -2, 4, kNumberNan, kInf}), summarised("saved", {3, 4}), scalar("loss", 2.5f),
                   single_reductions("single", {{Reduction::kMean, false, 7}, {Reduction::kL2, false, 9}}),
                   shape_only("bare", {1})}});
  const auto value = numbers("value", 0);
  EXPECT_EQ((*value)[Number::kCount], 5);
  EXPECT_EQ((*value)[Number::kNan], 1);
  EXPECT_EQ((*value)[Number::kPositiveInf], 1);
  EXPECT_EQ((*value)[Number::kZero], 1);
  EXPECT_EQ((*value)[Number::kMin], -2);
  EXPECT_EQ((*value)[Number::kMax], 4);
  EXPECT_TRUE(value->has_histogram);
  EXPECT_EQ(value->form, journal::RecordForm::kValue);
  EXPECT_EQ(value->worker, "rank-00000");

  EXPECT_EQ((*numbers("saved", 0))[Number::kL2], 5);
  EXPECT_TRUE(numbers("saved", 0)->hash.has_value());
  EXPECT_EQ((*numbers("loss", 0))[Number::kMean], 2.5);
  EXPECT_EQ((*numbers("single", 0))[Number::kL2], 9);
  EXPECT_TRUE(std::isnan((*numbers("single", 0))[Number::kCount]));
  EXPECT_EQ(tensor_numbers(use(), "bare", 0, "", budget_).status().code(), Code::kOutOfRange);
  EXPECT_EQ(tensor_numbers(use(), "none", 0, "", budget_).status().code(), Code::kNotFound);
}

TEST_F(TensorNumbersTest, AreReadAnewWhenTheStepWasEndedAnew) {
  written_.add({.step = 0, .tensors = {kept("w", {1})}});
  EXPECT_EQ((*numbers("w", 0))[Number::kMean], 1);
  EXPECT_EQ(numbers("w", 0), numbers("w", 0));  // remembered
  written_.add({.step = 0, .tensors = {kept("w", {5})}});
  EXPECT_EQ((*numbers("w", 0))[Number::kMean], 5);
}

TEST_F(TensorNumbersTest, StopWhereTheBudgetEndsAndGoOnThere) {
  for (std::int64_t step = 0; step < 4; ++step) {
    written_.add({.step = step, .tensors = {kept("w", std::vector<float>(10, static_cast<float>(step)))}});
  }
  const std::vector<std::int64_t> steps{0, 1, 2, 3};
  ComputeBudget small{.elements = 20};
  const NumbersOverSteps first = numbers_over_steps(use(), "w", steps, "", small);
  EXPECT_EQ(first.steps, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(first.pending, 2U);
  ComputeBudget tiny{.elements = 5};  // the first is computed all the same
  const NumbersOverSteps second = numbers_over_steps(use(), "w", steps, "", tiny);
  EXPECT_EQ(second.steps, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(second.pending, 1U);
}

TEST_F(TensorNumbersTest, KnowWhichStepsHaveThem) {
  written_.add({.step = 0, .tensors = {kept("w", {1})}, .mode = Mode::kTrain});
  written_.add({.step = 1, .tensors = {shape_only("w", {1})}, .mode = Mode::kTrain, .mode_step = 1});
  written_.add({.step = 2, .tensors = {reduced("w", {1})}, .mode = Mode::kEval, .mode_step = 0});
  const TensorPresence presence = **tensor_presence(use(), "w");
  EXPECT_EQ(presence.steps, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(presence.forms.size(), 3U);
  EXPECT_EQ(presence.workers, std::vector<std::string>{"rank-00000"});
  EXPECT_EQ(steps_with_numbers(presence, 0, 9, std::nullopt), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(steps_with_numbers(presence, 1, 9, std::nullopt), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(steps_with_numbers(presence, 0, 9, Mode::kTrain), (std::vector<std::int64_t>{0}));
}

TEST_F(TensorNumbersTest, KnowAtOnceWhatCameSince) {
  written_.add({.step = 0, .tensors = {kept("w", {1})}, .mode = Mode::kTrain});
  written_.add({.step = 1, .tensors = {kept("w", {1})}, .mode = Mode::kTrain, .mode_step = 1});
  EXPECT_EQ((*tensor_presence(use(), "w"))->steps.size(), 2U);
  written_.add({.step = 2, .tensors = {reduced("w", {1})}, .mode = Mode::kEval, .mode_step = 0});
  EXPECT_EQ((*tensor_presence(use(), "w"))->steps, (std::vector<std::int64_t>{0, 1, 2}));
  written_.add({.step = 1, .tensors = {kept("other", {1})}, .mode = Mode::kTrain, .mode_step = 1});  // ended anew
  EXPECT_EQ((*tensor_presence(use(), "w"))->steps, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ((*tensor_presence(use(), "w"))->workers, std::vector<std::string>{"rank-00000"});
}

TEST_F(TensorNumbersTest, MakeAMatrixOfBinsThatNeverJoinTheSigns) {
  written_.add({.step = 0, .tensors = {kept("w", {0, 0, -1, -1000, 0.5f, 1, 1e-44f, kNumberNan, -kInf})}});
  written_.add({.step = 1, .tensors = {kept("w", {3, 3, 3})}});
  const std::vector<std::int64_t> steps{0, 1};
  const NumbersOverSteps over = numbers_over_steps(use(), "w", steps, "", budget_);
  for (const int most : {512, 7, 2}) {
    const HistogramMatrix matrix = histogram_matrix(over, most);
    const std::size_t bins = matrix.lower.size();
    EXPECT_LE(bins, static_cast<std::size_t>(most));
    ASSERT_EQ(matrix.counts.size(), 2 * bins);
    double first = 0;
    double second = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      EXPECT_LT(matrix.lower[bin], matrix.upper[bin]);
      EXPECT_TRUE(matrix.upper[bin] < 0 || matrix.lower[bin] > 0);
      if (bin > 0) {
        EXPECT_GE(matrix.lower[bin], matrix.upper[bin - 1]);
      }
      first += matrix.counts[bin];
      second += matrix.counts[bins + bin];
      if (matrix.lower[bin] <= 3 && 3 < matrix.upper[bin]) {
        EXPECT_EQ(matrix.counts[bins + bin], 3);
      }
    }
    if (most == 512) {
      EXPECT_EQ(matrix.lower.front(), -1024);
      EXPECT_EQ(matrix.upper.back(), 3.5);
      EXPECT_EQ(bins, 40U + 11U);  // from -1024 to -1 and from 0.5 to 3.5, four an octave
    }
    EXPECT_EQ(first, 4);
    EXPECT_EQ(second, 3);
    EXPECT_EQ(matrix.zeros, (std::vector<double>{2, 0}));
    EXPECT_EQ(matrix.tiny, (std::vector<double>{1, 0}));
    EXPECT_EQ(matrix.nans, (std::vector<double>{1, 0}));
    EXPECT_EQ(matrix.negative_infs, (std::vector<double>{1, 0}));
  }
}

// Rules have statistics kept without a histogram, at many more steps than the user has values.
TEST_F(TensorNumbersTest, HistogramsAreOfTheStepsThatHaveOne) {
  for (std::int64_t step = 0; step < 1000; ++step) {
    const TestTensor tensor = step % 10 == 0 ? kept("w", {1, 2}) : reduced("w", {1, 2});
    written_.add({.step = step, .tensors = {step % 100 == 5 ? summarised("w", {1, 2}) : tensor}});
  }
  const auto found = steps_with_histogram(use(), "w", {.to = 999}, 1h);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->steps.size(), 110U);
  EXPECT_EQ(found->without, 890U);
  EXPECT_EQ(found->unread, 0U);
  EXPECT_EQ(steps_with_histogram(use(), "w", {.from = 100, .to = 110}, 0ms)->steps,
            (std::vector<std::int64_t>{100, 105, 110}))
      << "what was looked into is remembered";
}

TEST_F(TensorNumbersTest, StatisticsThatWereNotLookedIntoAreToldOf) {
  written_.add({.step = 0, .tensors = {kept("w", {1, 2})}});
  for (std::int64_t step = 1; step < 4; ++step) written_.add({.step = step, .tensors = {summarised("w", {1, 2})}});
  const auto hasty = steps_with_histogram(use(), "w", {.to = 9}, 0ns);
  EXPECT_EQ(hasty->steps, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(hasty->unread, 3U);
  EXPECT_EQ(hasty->without, 0U);
  EXPECT_EQ(steps_with_histogram(use(), "w", {.to = 9}, 1h)->steps, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace trainwarden::views
