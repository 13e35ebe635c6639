#include "ui/views/series.h"

#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;

Series ask(OpenRun& run, const SeriesQuestion& question) {
  auto use = run.use(0ms);
  auto series = read_series(*use, question, 1h);
  EXPECT_TRUE(series.ok()) << series.status().to_string();
  return series.ok() ? *std::move(series) : Series();
}

std::vector<double> values_of(const Series& series) {
  std::vector<double> values;
  for (const SeriesPointOut& point : series.points) values.push_back(point.value);
  return values;
}

TEST(Series, GrowsWithTheRunAndFiltersByModeAndStep) {
  TestRun written;
  for (std::int64_t step = 0; step < 10; ++step) {
    written.add({.step = step,
                 .tensors = {scalar("loss", static_cast<float>(step))},
                 .mode = step % 5 == 4 ? Mode::kEval : Mode::kTrain,
                 .mode_step = step % 5 == 4 ? step / 5 : step});
  }
  OpenRun run("r", written.open());
  EXPECT_EQ(ask(run, {.tensor = "loss"}).points.size(), 10U);
  EXPECT_EQ(values_of(ask(run, {.tensor = "loss", .mode = Mode::kEval})), (std::vector<double>{4, 9}));
  EXPECT_EQ(values_of(ask(run, {.tensor = "loss", .from = 3, .to = 5})), (std::vector<double>{3, 4, 5}));

  written.add({.step = 10, .tensors = {scalar("loss", 77)}, .mode = Mode::kTrain, .mode_step = 10});
  const Series grown = ask(run, {.tensor = "loss", .from = 9});
  EXPECT_EQ(values_of(grown), (std::vector<double>{9, 77}));
  EXPECT_EQ(grown.all.max, 77);
  EXPECT_EQ(grown.last_step, 10);
  EXPECT_EQ(read_series(*run.use(0ms), {.tensor = "lost"}, 1h).status().code(), Code::kNotFound);
}

TEST(Series, ComesByModeAndGrowsInEach) {
  TestRun written;
  const auto add = [&](std::int64_t step, Mode mode, float value) {
    written.add({.step = step, .tensors = {scalar("loss", value)}, .mode = mode, .mode_step = step});
  };
  const auto by_mode = [](OpenRun& run) {
    auto series = read_series_by_mode(*run.use(0ms), {.tensor = "loss"}, 1h);
    EXPECT_TRUE(series.ok()) << series.status().to_string();
    std::map<std::string, std::vector<double>> found;
    for (const Series& each : series.ok() ? *series : std::vector<Series>()) {
      found[std::string(each.mode ? name(*each.mode) : "none")] = values_of(each);
    }
    return found;
  };
  using Found = std::map<std::string, std::vector<double>>;
  add(0, Mode::kTrain, 1);
  OpenRun run("r", written.open());
  EXPECT_EQ(by_mode(run), (Found{{"train", {1}}}));
  add(1, Mode::kEval, 2);
  add(2, Mode::kTrain, 3);
  EXPECT_EQ(by_mode(run), (Found{{"train", {1, 3}}, {"eval", {2}}}));
  add(3, Mode::kEval, 4);
  EXPECT_EQ(by_mode(run), (Found{{"train", {1, 3}}, {"eval", {2, 4}}}));
  EXPECT_EQ(values_of(ask(run, {.tensor = "loss"})), (std::vector<double>{1, 2, 3, 4}));
}

TEST(Series, ChoosesTheNumberThatATensorHas) {
  TestRun written;
  written.add({.step = 0,
               .tensors = {scalar("loss", 3), kept("one", {4}), kept("w", {1, 3}), reduced("g", {2, 4}),
                           single_reductions("r", {{Reduction::kMax, true, 9}})}});
  OpenRun run("r", written.open());
  EXPECT_EQ(name(ask(run, {.tensor = "loss"}).number), "scalar");
  EXPECT_EQ(values_of(ask(run, {.tensor = "one"})), std::vector<double>{4});
  EXPECT_EQ(values_of(ask(run, {.tensor = "w"})), std::vector<double>{2});
  EXPECT_EQ(values_of(ask(run, {.tensor = "g"})), std::vector<double>{3});
  EXPECT_EQ(name(ask(run, {.tensor = "r"}).number), "abs_max");
}

// A rule had statistics kept at the first step, at which the program did not save.
TEST(Series, ChoosesTheNumberThatAnyStepHas) {
  TestRun written;
  written.add({.step = 0, .tensors = {reduced("loss", {1}), reduced("r", {1}), reduced("one", {1})}});
  written.add({.step = 1,
               .tensors = {scalar("loss", 3), single_reductions("r", {{Reduction::kMax, true, 9}}), kept("one", {7})}});
  OpenRun run("r", written.open());
  EXPECT_EQ(name(ask(run, {.tensor = "loss"}).number), "scalar");
  EXPECT_EQ(values_of(ask(run, {.tensor = "loss"})), std::vector<double>{3});
  EXPECT_EQ(name(ask(run, {.tensor = "r"}).number), "abs_max");
  EXPECT_EQ(name(ask(run, {.tensor = "one"}).number), "scalar");
}

TEST(Series, TakesTheLaterWordAboutAStep) {
  TestRun written;
  for (std::int64_t step = 0; step < 6; ++step) written.add({.step = step, .tensors = {scalar("loss", 1)}});
  OpenRun run("r", written.open());
  EXPECT_EQ(ask(run, {.tensor = "loss"}).points.size(), 6U);
  for (std::int64_t step = 3; step < 7; ++step) written.add({.step = step, .tensors = {scalar("loss", 2)}});
  EXPECT_EQ(values_of(ask(run, {.tensor = "loss"})), (std::vector<double>{1, 1, 1, 2, 2, 2, 2}));
}

TEST(Series, SendsBucketsOfManyAndCountsWhatIsNotFinite) {
  TestRun written;
  for (std::int64_t step = 0; step < 1000; ++step) {
    written.add({.step = step, .tensors = {scalar("loss", step == 500 ? NAN : static_cast<float>(step % 10))}});
  }
  OpenRun run("r", written.open());
  const Series series = ask(run, {.tensor = "loss", .buckets = 50});
  EXPECT_TRUE(series.points.empty());
  ASSERT_EQ(series.buckets.size(), 50U);
  EXPECT_EQ(series.buckets[25].summary.nan, 1U);
  EXPECT_EQ(series.buckets[3].summary.min, 0);
  EXPECT_EQ(series.buckets[3].summary.max, 9);
  EXPECT_EQ(series.all.count, 1000U);
}

}  // namespace
}  // namespace trainwarden::views
