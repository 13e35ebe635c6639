#include "read/trial/tensor_series.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"
#include "read/trial/trial_access.h"

namespace trainwarden::trial {
namespace {

using namespace std::chrono_literals;

// All of it, in parts as large as `patience` allows.
std::vector<double> series_of(Trial& trial, std::string_view tensor, std::string_view number,
                              std::chrono::nanoseconds patience = 1h) {
  WorkerJournal& journal = *TrialAccess::journals(trial).at(0);
  const auto index = journal.tensor(*TrialAccess::catalog(trial).find(tensor));
  std::vector<double> values;
  std::size_t next = 0;
  while (true) {
    const auto part =
        read_series(journal, *index, *parse_series_number(number), next, trial.last_complete_step(), patience);
    EXPECT_TRUE(part.ok()) << part.status().to_string();
    if (!part.ok()) return values;
    for (const SeriesPoint& point : part->points) values.push_back(point.value);
    if (part->left == 0) return values;
    EXPECT_GT(part->next, next);
    next = part->next;
  }
}

TEST(TensorSeries, GivesWhatTheTrialGivesInEachForm) {
  TestRun run;
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto x = static_cast<float>(step);
    run.add({.step = step,
             .tensors = {scalar("loss", x), kept("one", {2 * x}), kept("w", {-x, 3, x}), reduced("g", {x, -5}),
                         single_reductions("r", {{Reduction::kMax, true, 7.0 + static_cast<double>(step)}}),
                         strings("words", {"a"})}});
  }
  const auto trial = run.open();
  EXPECT_EQ(series_of(*trial, "loss", "scalar"), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(series_of(*trial, "one", "scalar"), (std::vector<double>{0, 2, 4, 6}));
  EXPECT_EQ(series_of(*trial, "w", "scalar"), std::vector<double>{});
  EXPECT_EQ(series_of(*trial, "words", "mean"), std::vector<double>{});
  EXPECT_EQ(series_of(*trial, "r", "abs_max"), (std::vector<double>{7, 8, 9, 10}));
  EXPECT_EQ(series_of(*trial, "r", "mean"), std::vector<double>{});
  for (const std::string_view tensor : {"loss", "one", "w", "g"}) {
    for (const Reduction reduction : {Reduction::kMin, Reduction::kStd, Reduction::kL2}) {
      std::vector<double> expected;
      for (std::int64_t step = 0; step < 4; ++step)
        expected.push_back(*trial->reduction(tensor, step, reduction, true));
      EXPECT_EQ(series_of(*trial, tensor, "abs_" + std::string(trainwarden::name(reduction))), expected) << tensor;
    }
  }
  EXPECT_EQ(series_of(*trial, "w", "prod"), (std::vector<double>{-0.0, -3, -12, -27}));
}

TEST(TensorSeries, CountsWhatIsNotFinite) {
  TestRun run;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  run.add({.step = 0, .tensors = {kept("w", {nan, 0, INFINITY}), scalar("loss", nan)}});
  const auto trial = run.open();
  EXPECT_EQ(series_of(*trial, "w", "nan_count"), std::vector<double>{1});
  EXPECT_EQ(series_of(*trial, "w", "inf_count"), std::vector<double>{1});
  EXPECT_EQ(series_of(*trial, "w", "zero_count"), std::vector<double>{1});
  EXPECT_EQ(series_of(*trial, "loss", "nan_count"), std::vector<double>{1});
  EXPECT_TRUE(std::isnan(series_of(*trial, "loss", "scalar").at(0)));
}

TEST(TensorSeries, ComesInPartsAndGoesOnWhereItStopped) {
  TestRun run;
  for (std::int64_t step = 0; step < 2000; ++step) {
    run.add({.step = step, .tensors = {scalar("loss", static_cast<float>(step))}});
  }
  const auto trial = run.open();
  const std::vector<double> in_parts = series_of(*trial, "loss", "scalar", 0ns);
  ASSERT_EQ(in_parts.size(), 2000U);
  EXPECT_EQ(in_parts, series_of(*trial, "loss", "scalar"));

  WorkerJournal& journal = *TrialAccess::journals(*trial).at(0);
  const auto part = read_series(journal, 0, {}, 1999, trial->last_complete_step(), 1h);
  ASSERT_EQ(part->points.size(), 1U);
  EXPECT_EQ(part->points[0].global_step, 1999);
  EXPECT_GT(part->points[0].unix_ns, 0);
  EXPECT_TRUE(read_series(journal, 0, {}, part->next, trial->last_complete_step(), 1h)->points.empty());
  EXPECT_EQ(read_series(journal, 0, {}, 0, 9, 1h)->points.size(), 10U);  // up to a step
}

TEST(TensorSeries, NamesItsNumbers) {
  for (const std::string_view text : {"scalar", "mean", "abs_l2", "prod", "nan_count", "zero_count"}) {
    EXPECT_EQ(name(*parse_series_number(text)), text);
  }
  EXPECT_NE(parse_series_number("maen").status().message().find("did you mean \"mean\""), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::trial
