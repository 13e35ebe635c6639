#include "measure/sampling/sampler.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "store/journal/journal_reader.h"

namespace trainwarden::sampling {
namespace {

void write_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// A machine of one processor, in a folder.
std::filesystem::path small_machine(const std::filesystem::path& folder) {
  write_file(folder / "proc/stat", "cpu  100 0 50 800 10 0 0 0 0 0\ncpu0 100 0 50 800 10 0 0 0 0 0\nprocs_running 2\n");
  write_file(folder / "proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\n");
  return folder;
}

SamplerPlan plan_for(const std::filesystem::path& run, const std::filesystem::path& machine) {
  SamplerPlan plan{storage::Location(run)};
  plan.host.root = machine;
  plan.host.host = "node7";
  plan.host_interval = std::chrono::milliseconds(10);
  return plan;
}

std::unique_ptr<journal::JournalReader> open_journal(const std::filesystem::path& run, const std::string& name) {
  storage::Location location(run);
  const auto info = journal::read_run(location.storage());
  EXPECT_TRUE(info.ok()) << info.status().to_string();
  auto reader = journal::JournalReader::open(location.storage(), *info, name, {});
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_TRUE((*reader)->refresh().ok());
  return std::move(*reader);
}

bool has_metric(const journal::JournalReader& reader, std::string_view name) {
  for (const Metric& metric : reader.metrics()) {
    if (metric.name == name) return true;
  }
  return false;
}

TEST(Sampler, MakesARunThatAwaitsAWorker) {
  const TestFolder folder;
  SamplerPlan plan = plan_for(folder.path() / "run", small_machine(folder.path() / "machine"));
  plan.makes_run = true;
  Sampler sampler(std::move(plan));
  const SamplerResult result = sampler.finish(true);
  EXPECT_TRUE(result.status.ok()) << result.status.to_string();
  EXPECT_EQ(result.lost_samples, 0U);
  storage::Location made(folder.path() / "run");
  const auto info = journal::read_run(made.storage());
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(info->awaits_worker);
  const auto reader = open_journal(folder.path() / "run", "machine-0");
  EXPECT_TRUE(has_metric(*reader, "cpu.busy"));
  EXPECT_TRUE(has_metric(*reader, "memory.available"));
  EXPECT_TRUE(has_metric(*reader, "sampler.lateness"));
}

TEST(Sampler, WithoutARunNothingIsWritten) {
  const TestFolder folder;
  Sampler sampler(plan_for(folder.path() / "run", small_machine(folder.path() / "machine")));
  EXPECT_TRUE(sampler.finish(true).status.ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST(Sampler, WhatNoWorkerMadeARunForIsKeptWhenItLasted) {
  const TestFolder folder;
  const auto machine = small_machine(folder.path() / "machine");
  SamplerPlan plan = plan_for(folder.path() / "short", machine);
  plan.makes_run_after = std::chrono::hours(1);
  EXPECT_TRUE(Sampler(std::move(plan)).finish(true).status.ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "short"));
  plan = plan_for(folder.path() / "long", machine);
  plan.makes_run_after = std::chrono::milliseconds(0);
  EXPECT_TRUE(Sampler(std::move(plan)).finish(true).status.ok());
  EXPECT_TRUE(has_metric(*open_journal(folder.path() / "long", "machine-0"), "cpu.busy"));
}

TEST(Sampler, KeepsNothingWhenItIsNotToWrite) {
  const TestFolder folder;
  SamplerPlan plan = plan_for(folder.path() / "run", small_machine(folder.path() / "machine"));
  plan.makes_run = true;
  plan.writes = false;
  plan.newest = std::make_shared<NewestSamples>(kSamplers);
  const auto newest = plan.newest;
  EXPECT_TRUE(Sampler(std::move(plan)).finish(true).status.ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
  EXPECT_FALSE(newest->at(system_clock().steady_ns()).empty());
}

TEST(Sampler, TwoOfOneRunHaveAJournalEach) {
  const TestFolder folder;
  const auto machine = small_machine(folder.path() / "machine");
  SamplerPlan plan = plan_for(folder.path() / "run", machine);
  plan.makes_run = true;
  // The first holds its journal as long as it lives.
  journal::SideWriter first({.run = plan.run, .name_of = journal::machine_name, .last = 9}, system_clock());
  ASSERT_TRUE(first
                  .append(journal::SampleBatch{{{0, {"a", "", MetricKind::kGauge, MetricSource::kHost, ""}}},
                                               {{{1}, {{0, {1.0}}}}}})
                  .ok());
  Sampler second(std::move(plan));
  EXPECT_TRUE(second.finish(true).status.ok());
  EXPECT_TRUE(has_metric(*open_journal(folder.path() / "run", "machine-1"), "cpu.busy"));
  EXPECT_FALSE(has_metric(*open_journal(folder.path() / "run", "machine-0"), "cpu.busy"));
}

}  // namespace
}  // namespace trainwarden::sampling
