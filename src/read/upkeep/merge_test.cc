#include "read/upkeep/merge.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "data/format/run_event.h"
#include "read/trial/run_testing.h"
#include "read/upkeep/checkup.h"
#include "read/upkeep/run_origin.h"
#include "store/storage/local_storage.h"

namespace trainwarden::upkeep {
namespace {

// A run of its own, whatever others the test makes: TestRun gives all of them one id and one time.
std::shared_ptr<storage::MemoryStorage> with_info(const TestRun& run, std::int64_t created,
                                                  const std::map<std::string, std::string>& labels = {}) {
  // A copy with another id: what recover() is for.
  const TestFolder folder;
  const auto report = recover_run({.from = storage::Location(run.storage(), "run"), .to = folder.path() / "copy"});
  EXPECT_TRUE(report.ok()) << report.status().to_string();
  std::shared_ptr<storage::MemoryStorage> copy = storage::create_memory_storage();
  const auto disk = storage::open_local_storage(folder.path() / "copy");
  const auto writers = journal::list_journals(*disk);
  EXPECT_TRUE(writers.ok());
  for (const std::string& writer : *writers) {
    EXPECT_TRUE(copy->create_folder(journal::journal_folder(writer)).ok());
    for (const std::uint64_t number : journal::list_segments(*disk, writer).value_or({})) {
      const std::string path = journal::journal_folder(writer) + "/" + journal::segment_file(number);
      copy->set_content(path, disk->read(path).value_or(""));
    }
  }
  journal::RunInfo info = report->info;
  info.created_unix_ns = created;
  info.labels = labels;
  copy->set_content("run.json", journal::encode_run_info(info));
  return copy;
}

class Merge : public testing::Test {
 protected:
  Result<MergeReport> merge(const std::vector<std::shared_ptr<storage::MemoryStorage>>& runs,
                            std::optional<MergeKind> kind = {}, std::optional<std::size_t> preferred = {}) {
    MergePlan plan;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      plan.runs.emplace_back(runs[i], "run" + std::to_string(i));
    }
    to_ = folder_.path() / ("merged-" + std::to_string(count_++));
    plan.to = to_;
    plan.kind = kind;
    plan.preferred = preferred;
    return merge_runs(plan);
  }

  std::unique_ptr<Trial> merged() const {
    auto trial = Trial::open(to_);
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    const auto checkup = examine(storage::Location(to_));
    EXPECT_TRUE(checkup.ok() && checkup->healthy());
    return *std::move(trial);
  }

  static std::shared_ptr<storage::MemoryStorage> worker_run(int rank, int world_size, float value) {
    TestRun run(world_size);
    for (int step = 0; step < 5; ++step) {
      run.add({.step = step, .tensors = {kept("w", {value, static_cast<float>(step)})}, .worker = rank});
    }
    run.end(rank);
    return with_info(run, 1000 + rank);
  }

  static std::shared_ptr<storage::MemoryStorage> attempt(std::int64_t first, std::int64_t last, float value,
                                                         std::int64_t created, bool ends,
                                                         const std::map<std::string, std::string>& labels = {}) {
    TestRun run;
    for (std::int64_t step = first; step <= last; ++step) run.add({.step = step, .tensors = {kept("w", {value})}});
    if (ends) {
      run.end(0, true);
    } else {
      run.kill();
    }
    return with_info(run, created, labels);
  }

  TestFolder folder_;
  std::filesystem::path to_;
  int count_ = 0;
};

TEST_F(Merge, WorkersThatKnewTheirRanksKeepThem) {
  const auto report = merge({worker_run(0, 2, 1), worker_run(1, 2, 2)});
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->kind, MergeKind::kWorkers);
  const auto trial = merged();
  EXPECT_EQ(trial->world_size(), 2);
  EXPECT_EQ(trial->state(), RunState::kCompleted);
  EXPECT_EQ(trial->steps(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(trial->value("w", 3, Mode::kGlobal, "rank-00000")->to_doubles(), (std::vector<double>{1, 3}));
  EXPECT_EQ(trial->value("w", 3, Mode::kGlobal, "rank-00001")->to_doubles(), (std::vector<double>{2, 3}));
  EXPECT_EQ(trial->created_unix_ns(), 1000);
}

TEST_F(Merge, ARunIsCompressedWhenOneOfThemWas) {
  for (const bool plain_first : {false, true}) {
    std::vector<std::shared_ptr<storage::MemoryStorage>> runs = {worker_run(0, 2, 1), worker_run(1, 2, 2)};
    storage::MemoryStorage& plain = *runs[plain_first ? 0 : 1];
    journal::RunInfo info = journal::read_run(plain).value();
    info.format_version = journal::kPlainVersion;
    plain.set_content("run.json", journal::encode_run_info(info));
    const auto report = merge(runs);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->info.format_version, journal::kCompressedVersion);
    EXPECT_EQ(merged()->steps().size(), 5u);
  }
}

TEST_F(Merge, WorkersThatEachThoughtThemselvesAloneGetRanksOfTheirOwn) {
  const auto first = worker_run(0, 1, 1);
  const auto second = worker_run(0, 1, 2);
  const auto unclear = merge({first, second});
  EXPECT_EQ(unclear.status().code(), Code::kInvalidArgument);
  EXPECT_NE(unclear.status().message().find("--as attempts"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(to_));
  const auto report = merge({first, second}, MergeKind::kWorkers);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->runs[1].journals.at("rank-00000"), "rank-00001");
  const auto trial = merged();
  EXPECT_EQ(trial->world_size(), 2);
  EXPECT_EQ(trial->value("w", 3, Mode::kGlobal, "rank-00001")->to_doubles(), (std::vector<double>{2, 3}));
}

TEST_F(Merge, ALaterAttemptsStepsReplaceThoseFromWhereItBegan) {
  // In the wrong order: what counts is when they began.
  const auto report = merge({attempt(6, 9, 2, 2000, true), attempt(0, 8, 1, 1000, true)}, MergeKind::kAttempts);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->runs[0].replaced_from, 6);
  EXPECT_EQ(report->runs[0].replaced_frames, 3u * 2);  // a bundle and an end each
  EXPECT_FALSE(report->runs[1].replaced_from);
  const auto trial = merged();
  EXPECT_EQ(trial->steps().size(), 10u);
  EXPECT_EQ(trial->value("w", 5)->to_doubles(), std::vector<double>{1});
  for (const std::int64_t step : {6, 7, 8, 9}) EXPECT_EQ(trial->value("w", step)->to_doubles(), std::vector<double>{2});
  EXPECT_EQ(trial->state(), RunState::kStopped);
}

TEST_F(Merge, AnEarlierAttemptsStepsThatTheLaterOneNeverHadAreGoneToo) {
  const auto report = merge({attempt(0, 20, 1, 1000, true), attempt(5, 7, 2, 2000, false)}, MergeKind::kAttempts);
  ASSERT_TRUE(report.ok());
  const auto trial = merged();
  EXPECT_EQ(trial->steps(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(trial->state(), RunState::kDied);  // the end of the first attempt was taken back
}

TEST_F(Merge, ThreeAttemptsOfWhichTheLastBeganBehindTheSecond) {
  const auto report =
      merge({attempt(0, 9, 1, 1000, false), attempt(4, 9, 2, 2000, false), attempt(2, 3, 3, 3000, true)},
            MergeKind::kAttempts);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->runs[0].replaced_from, 2);
  EXPECT_EQ(report->runs[1].replaced_from, 2);
  EXPECT_EQ(merged()->steps(), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST_F(Merge, WhatTheRunsDisagreeOnIsNamed) {
  const auto a = attempt(0, 3, 1, 1000, true, {{"lr", "0.1"}, {"name", "x"}});
  const auto b = attempt(2, 5, 2, 2000, true, {{"lr", "0.2"}, {"more", "y"}});
  const auto refused = merge({a, b}, MergeKind::kAttempts);
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("label lr (\"0.1\", \"0.2\")"), std::string::npos)
      << refused.status().message();
  EXPECT_FALSE(std::filesystem::exists(to_));
  const auto report = merge({a, b}, MergeKind::kAttempts, 1);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->info.labels.at("lr"), "0.2");
  EXPECT_EQ(report->info.labels.at("name"), "x");
  EXPECT_EQ(report->info.labels.at("more"), "y");
}

TEST_F(Merge, WorkersWithOtherStepsOrNumbersAreRefused) {
  TestRun run(2);
  run.add({.step = 0, .mode = Mode::kEval, .mode_step = 0, .worker = 1});
  run.end(1);
  const auto evaluated = with_info(run, 5);
  const auto other_mode = merge({worker_run(0, 2, 1), evaluated});
  EXPECT_EQ(other_mode.status().code(), Code::kInvalidArgument);
  EXPECT_NE(other_mode.status().message().find("step 0"), std::string::npos);
  EXPECT_EQ(merge({worker_run(0, 2, 1), worker_run(1, 3, 1)}).status().code(), Code::kInvalidArgument);
  const auto same = worker_run(0, 1, 1);
  EXPECT_EQ(merge({same, same}, MergeKind::kWorkers).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(merge({same}).status().code(), Code::kInvalidArgument);
}

TEST_F(Merge, TheMergedRunSaysWhichRunsItWasMadeFrom) {
  const auto a = worker_run(0, 2, 1);
  const auto b = worker_run(1, 2, 1);
  const auto report = merge({a, b});
  ASSERT_TRUE(report.ok());
  const auto origins = read_origins(*storage::open_local_storage(to_));
  ASSERT_TRUE(origins.ok());
  ASSERT_EQ(origins->size(), 2u);
  EXPECT_EQ((*origins)[0].run, journal::read_run(*a)->id);
  EXPECT_EQ((*origins)[1].run, journal::read_run(*b)->id);
  EXPECT_EQ((*origins)[1].how, "merge");
  EXPECT_NE(report->info.id, (*origins)[0].run);
}

TEST_F(Merge, DamageInAPartIsSaidAndTheRestIsMerged) {
  const auto a = attempt(0, 3, 1, 1000, true);
  const auto b = attempt(4, 6, 2, 2000, true);
  std::string content = a->content("journal/rank-00000/seg-00000000.tw");
  content[content.size() / 3] ^= 0x55;
  a->set_content("journal/rank-00000/seg-00000000.tw", content);
  const auto report = merge({a, b}, MergeKind::kAttempts);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_FALSE(report->lost.empty() && report->mended.empty());
  EXPECT_EQ(merged()->steps().back(), 6);
}

TEST_F(Merge, MachinesAndWatchersAreNumberedAnew) {
  const auto made = [](int rank) {
    TestRun run(2);
    run.add({.step = 0, .tensors = {kept("w", {1})}, .worker = rank});
    run.sample_together({{{.name = "cpu", .kind = MetricKind::kGauge, .source = MetricSource::kHost}, {1, 2, 3}}}, 10);
    run.end(rank);
    run.end(TestRun::kMachine);
    return with_info(run, 7);
  };
  const auto report = merge({made(0), made(1)});
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->runs[0].journals.at("machine-0"), "machine-0");
  EXPECT_EQ(report->runs[1].journals.at("machine-0"), "machine-1");
  merged();
}

}  // namespace
}  // namespace trainwarden::upkeep
