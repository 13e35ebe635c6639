#include "ui/views/run_index.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/await_testing.h"
#include "read/trial/run_testing.h"
#include "store/journal/run_folder.h"
#include "ui/views/read_ahead.h"
#include "ui/views/run_steps.h"
#include "ui/views/series.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class RunIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("run_index_test-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Puts what was written into memory onto the disk.
  void put(const std::string& name, const TestRun& run) {
    std::vector<std::string> paths = {journal::kRunFile};
    const std::string journal = journal::journal_folder(journal::worker_name(0));
    for (const std::string& file : run.storage()->list(journal).value_or({})) paths.push_back(journal + "/" + file);
    for (const std::string& path : paths) {
      const fs::path file = folder_ / name / path;
      fs::create_directories(file.parent_path());
      std::ofstream(file, std::ios::binary) << run.storage()->content(path);
    }
  }

  fs::path folder_;
};

TestRun finished_run(float last_loss, std::int64_t steps = 3) {
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) {
    run.add({.step = step, .tensors = {scalar("loss", step == steps - 1 ? last_loss : 1.0F, {"losses"})}});
  }
  run.end();
  return run;
}

TEST_F(RunIndexTest, SaysThatAllIsReadToWhoDoesNotWait) {
  put("a", finished_run(0.25F));
  const auto shelf = Shelf::open(folder_);
  RunIndex index(**shelf);
  EXPECT_TRUE(await([&] { return index.runs(0ms)->reading == 0; }));  // as the page does: it asks again and again
}

TEST_F(RunIndexTest, ReadsRowsAndReadsThemAgainWhenTheirFilesChange) {
  put("a", finished_run(0.25F));
  fs::create_directories(folder_ / "b");
  std::ofstream(folder_ / "b" / "run.json") << "damaged";
  const auto shelf = Shelf::open(folder_);
  RunIndex index(**shelf);
  auto runs = index.runs(60s);
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->runs.size(), 2U);
  EXPECT_EQ(runs->reading, 0U);
  const RunRow& a = *runs->runs[0].row;
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(runs->runs[0].id, run_id_of("a"));
  EXPECT_EQ(a.step_count, 3U);
  EXPECT_EQ(a.loss->value, 0.25);
  EXPECT_EQ(runs->runs[0].course.values, (std::vector<double>{1.0, 1.0, 0.25}));
  EXPECT_FALSE(runs->runs[1].row->unreadable.ok());

  put("c", finished_run(0.5F));
  runs = index.runs(60s);  // what is new is waited for
  ASSERT_EQ(runs->runs.size(), 3U);
  EXPECT_EQ(runs->runs[2].row->loss->value, 0.5);
  EXPECT_EQ(runs->runs[0].row.get(), &a);  // what did not change was not read again

  put("a", finished_run(0.125F, 5));
  runs = index.runs(60s);  // whoever asks knows of it, and is not notified again
  EXPECT_EQ(runs->runs[0].row->step_count, 5U);
  EXPECT_EQ(runs->runs[0].row->loss->value, 0.125);

  fs::remove_all(folder_ / "c");
  EXPECT_EQ(index.runs(60s)->runs.size(), 2U);
  fs::remove_all(folder_);
  EXPECT_EQ(index.runs(1ms).status().code(), Code::kNotFound);
}

constexpr std::int64_t kManySteps = 1000;  // more than a question without patience reads

std::uint64_t left_of_loss(OpenRun& run) {
  const auto series = read_series(*run.use(), {.tensor = "loss"}, std::chrono::nanoseconds(0));
  EXPECT_TRUE(series.ok()) << series.status().to_string();
  return series->left;
}

TEST_F(RunIndexTest, ReadsTheNewestRunAhead) {
  put("newest", finished_run(0.5F, kManySteps));
  put("older", finished_run(0.5F, kManySteps / 2));
  const auto shelf = Shelf::open(folder_);
  RunIndex index(**shelf);
  for (int look = 0; look < 6; ++look) ASSERT_EQ(index.runs(60s)->reading, 0U);  // after each it reads a piece at least
  EXPECT_EQ(left_of_loss(**(*shelf)->run(run_id_of("newest"))), 0U);
  EXPECT_GT(left_of_loss(**(*shelf)->run(run_id_of("older"))), 0U);
}

TEST(ReadAhead, LeavesNothingForTheFirstLook) {
  const TestRun written = finished_run(0.5F, kManySteps);
  OpenRun untouched("r", written.open());
  EXPECT_GT(left_of_loss(untouched), 0U);
  OpenRun run("r", written.open());
  while (!read_losses_ahead(run, [] { return true; })) continue;
  EXPECT_EQ(left_of_loss(run), 0U);
}

TEST(RunSteps, TellWhichStepOfAModeAStepIs) {
  TestRun run;
  run.add({.step = 0, .mode = Mode::kTrain, .mode_step = 0});
  run.add({.step = 1, .mode = Mode::kTrain, .mode_step = 1});
  run.add({.step = 2, .mode = Mode::kEval, .mode_step = 0});
  run.add({.step = 3, .mode = Mode::kTrain, .mode_step = 2});
  const auto trial = run.open();
  RunStepsMemory memory;
  const RunSteps steps = memory.read(*trial);
  EXPECT_EQ(steps.steps, (std::vector<StridedSteps>{{0, 1, 4}}));
  ASSERT_EQ(steps.modes.size(), 2U);
  EXPECT_EQ(steps.modes[0].mode, Mode::kTrain);
  EXPECT_EQ(steps.modes[0].steps, (std::vector<StridedSteps>{{0, 1, 2}, {3, 1, 1}}));
  EXPECT_EQ(steps.modes[0].mode_steps, (std::vector<StridedSteps>{{0, 1, 3}}));
  EXPECT_EQ(steps.modes[1].steps, (std::vector<StridedSteps>{{2, 1, 1}}));
  EXPECT_EQ(steps.last_complete, 3);

  run.add({.step = 4, .mode = Mode::kTrain, .mode_step = 3});  // what comes is added to what was known
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(memory.read(*trial).modes[0].steps, (std::vector<StridedSteps>{{0, 1, 2}, {3, 1, 2}}));
  EXPECT_EQ(memory.read(*trial).steps, (std::vector<StridedSteps>{{0, 1, 5}}));
}

}  // namespace
}  // namespace trainwarden::views
