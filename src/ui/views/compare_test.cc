#include "ui/views/compare.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

// From step 3 on the second layer's output is off by `error`, and so is what follows from it.
TestRun training(float error) {
  TestRun run;
  for (std::int64_t step = 0; step < 6; ++step) {
    const float off = step >= 3 ? error : 0;
    run.add({.step = step,
             .tensors = {kept("z_first", {1, 2, 4}), kept("b_second", {1, 2, 4 + off}), scalar("a_loss", 5 + off),
                         summarised("a_gradient", {1, -1, 8 + off})},
             .mode = step % 2 == 0 ? Mode::kTrain : Mode::kEval,
             .mode_step = step / 2});
  }
  run.end();
  return run;
}

Comparison compare(const TestRun& a, const TestRun& b, double tolerance = 0, std::int64_t from = 0) {
  return compare_runs(*a.open(), *b.open(), {tolerance, from});
}

TEST(CompareRuns, TheSameNumbersDoNotPart) {
  const Comparison same = compare(training(0), training(0));
  EXPECT_EQ(same.parted_step, -1);
  EXPECT_EQ(same.compared_steps, 6U);
  EXPECT_EQ(same.compared_tensors, 24U);
  EXPECT_EQ(same.last_step, 5);
  EXPECT_FALSE(same.cut);
}

TEST(CompareRuns, FindsTheFirstStepAndTheFirstTensorInTheOrderOfTheTraining) {
  const Comparison parted = compare(training(0), training(0.5F));
  EXPECT_EQ(parted.parted_step, 3);
  EXPECT_EQ(parted.mode, Mode::kEval);
  EXPECT_EQ(parted.mode_step, 1);
  EXPECT_EQ(parted.parted_tensors, 3U);
  ASSERT_EQ(parted.partings.size(), 3U);
  const Parting& first = parted.partings[0];  // not a_gradient, which comes first by name
  EXPECT_EQ(first.tensor, "b_second");
  EXPECT_EQ(first.form, "value");
  EXPECT_EQ(first.a, 4);
  EXPECT_EQ(first.b, 4.5);
  EXPECT_EQ(first.place, 2);
  EXPECT_EQ(first.difference, 0.5);
  EXPECT_DOUBLE_EQ(first.relative, 0.5 / 4.5);
  EXPECT_EQ(first.differing, 1U);
  EXPECT_EQ(first.elements, 3U);
  EXPECT_EQ(parted.partings[1].form, "scalar");
  EXPECT_EQ(parted.partings[2].form, "statistics");
  EXPECT_EQ(parted.partings[2].quantity, "abs_max");
}

TEST(CompareRuns, ATolerancePasses) {
  EXPECT_EQ(compare(training(0), training(1e-4F), 1e-3).parted_step, -1);
  EXPECT_EQ(compare(training(0), training(1e-4F), 1e-6).parted_step, 3);
  EXPECT_EQ(compare(training(0), training(1e-4F)).parted_step, 3);
}

TEST(CompareRuns, NaNEqualsNaNAndNothingElse) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compare(training(nan), training(nan)).parted_step, -1);
  const Comparison parted = compare(training(0), training(nan), 1);
  EXPECT_EQ(parted.parted_step, 3);
  EXPECT_TRUE(std::isinf(parted.partings.at(0).difference));
}

TEST(CompareRuns, StatisticsThatDifferInTheOrderOfElementsDifferByTheirHash) {
  TestRun a;
  TestRun b;
  a.add({.step = 0, .tensors = {summarised("w", {1, 2, 3})}});
  b.add({.step = 0, .tensors = {summarised("w", {3, 2, 1})}});
  const Comparison parted = compare(a, b);
  ASSERT_EQ(parted.partings.size(), 1U);
  EXPECT_EQ(parted.partings[0].quantity, "hash");
  EXPECT_EQ(compare(a, b, 1e-6).parted_step, -1);
}

TEST(CompareRuns, OtherShapesAndTextsPart) {
  TestRun a;
  TestRun b;
  a.add({.step = 0, .tensors = {kept("w", {1, 2}), strings("words", {"x", "y"}), kept("only_a", {1})}});
  b.add({.step = 0, .tensors = {kept("w", {1, 2, 3}), strings("words", {"x", "z"}), kept("only_b", {1})}});
  const Comparison parted = compare(a, b);
  ASSERT_EQ(parted.partings.size(), 2U);
  EXPECT_EQ(parted.partings[0].form, "dtype and shape");
  EXPECT_EQ(parted.partings[0].quantity, "float32 [2] and float32 [3]");
  EXPECT_EQ(parted.partings[1].quantity, "text 1 is another");
  EXPECT_EQ(parted.only_a, std::vector<std::string>{"only_a"});
  EXPECT_EQ(parted.only_b, std::vector<std::string>{"only_b"});
  EXPECT_EQ(parted.common_tensors, 2U);
}

TEST(CompareRuns, GoesOnWhereItWasCut) {
  const TestRun a = training(0);
  const TestRun b = training(0.5F);
  CompareLimits limits;
  limits.time = std::chrono::milliseconds(0);
  std::int64_t from = 0;
  int asked = 0;
  Comparison part;
  do {
    part = compare_runs(*a.open(), *b.open(), {0, from}, limits);
    from = part.last_step + 1;
    ++asked;
  } while (part.cut && asked < 10);
  EXPECT_EQ(part.parted_step, 3);
  EXPECT_EQ(asked, 4);
}

TEST(CompareRuns, PutsWhatIsKnownSideBySide) {
  const Comparison compared = compare(training(0), training(0));
  const auto field = [&](const std::string& name) {
    for (const ComparedField& one : compared.fields) {
      if (one.name == name) return one;
    }
    return ComparedField{};
  };
  EXPECT_EQ(field("steps").a, "6");
  EXPECT_FALSE(field("steps").differs());
  EXPECT_EQ(field("state").a, "completed");
}

}  // namespace
}  // namespace trainwarden::views
