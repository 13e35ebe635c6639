// What a run's machines and steps did, as a folder of SageMaker's profiler: read again by our import, and by smdebug
// itself.
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <test_paths.h>

#include "read/profile/step_phases.h"
#include "read/profile/system_usage.h"
#include "read/transfer/profiler_export.h"
#include "read/transfer/transfer_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::transfer {
namespace {

constexpr std::int64_t kMs = 1'000'000;

Metric host(const std::string& name, MetricKind kind) {
  return {name, "", kind, MetricSource::kHost, "node7"};
}
Metric gpu(const std::string& name, MetricKind kind, const std::string& device = "GPU-9") {
  return {name, "", kind, MetricSource::kDevice, device};
}

// Two workers with four steps each; one of them with operator calls; a machine with two processors and a GPU.
TestRun profiled_run() {
  TestRun run(2);
  run.sample_together({{host("cpu.0.busy", MetricKind::kCounter), {10, 10.25, 10.5, 11}},
                       {host("cpu.1.busy", MetricKind::kCounter), {5, 5, 5, 5}},
                       {host("cpu.0.iowait", MetricKind::kCounter), {0, 0.5, 0.5, 0.5}},
                       {host("memory.used", MetricKind::kGauge), {25, 25, 25, 50}},
                       {host("memory.total", MetricKind::kGauge), {100, 100, 100, 100}},
                       {gpu("gpu.utilisation", MetricKind::kRatio), {0.5, 0.5, 0.75, 1}}},
                      1000 * kMs);
  for (int worker = 0; worker < 2; ++worker) {
    for (std::int64_t step = 0; step < 4; ++step) {
      run.clock().advance_ns(100 * kMs);
      run.add(
          {.step = step,
           .tensors = {scalar(step == 0 ? "phase/start" : "phase/step", 0.125f), scalar("phase/data_wait", 0.03125f),
                       scalar("phase/forward", 0.0625f), scalar("phase/backward", 0.015625f)},
           .mode = Mode::kTrain,
           .worker = worker});
    }
  }
  OperatorBatch batch;
  batch.global_step = 3;
  batch.mode = Mode::kTrain;
  batch.names = {"aten::mm", "gemm_kernel \"x\""};
  batch.tracks = {{"thread 7", 7, false}, {"GPU-1 stream 7", 7, true}};
  const std::int64_t now = run.clock().unix_ns();
  batch.calls = {{0, 0, OperatorKind::kOperator, now - 50 * kMs, 2 * kMs, -1},
                 {1, 1, OperatorKind::kKernel, now - 49 * kMs, kMs, -1}};
  run.operators(batch, 1);
  run.end(0);
  run.end(1);
  return run;
}

class ProfilerExportTest : public TransferTest {
 protected:
  ProfilerExportReport export_run() {
    TestRun run = profiled_run();
    const auto trial = run.open();
    auto report = export_profiler(*trial, {.out = in("p")});
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    return report.ok() ? *report : ProfilerExportReport();
  }
};

TEST_F(ProfilerExportTest, OurImportReadsTheSameAgain) {
  const ProfilerExportReport report = export_run();
  EXPECT_EQ(report.steps, 8u);
  EXPECT_EQ(report.calls, 2u);
  EXPECT_EQ(report.samples, 3u * 3 + 4 + 4) << "rates of three counters, and two values four times";
  const auto imported = import_run(in("p"), in("again"));
  ASSERT_TRUE(imported.ok()) << imported.status().to_string();
  EXPECT_TRUE(imported->source_ended);
  EXPECT_TRUE(imported->losses.empty());
  EXPECT_EQ(imported->samples, report.samples);
  EXPECT_EQ(imported->workers.size(), 2u);
  const auto again = Trial::open(in("again"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->steps(Mode::kTrain), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_NEAR(*(*again)->scalar("phase/forward", 3), 0.0625, 2e-6);
  EXPECT_NEAR(*(*again)->scalar("phase/data_wait", 3), 0.03125, 2e-6);
  const auto usage = profile::system_usage(**again, {.kinds = {"core", "gpu", "memory"}});
  ASSERT_TRUE(usage.ok());
  ASSERT_EQ(usage->size(), 4u);
  EXPECT_NEAR((*usage)[0].samples.back().value, 50, 1e-9);
  EXPECT_NEAR((*usage)[2].samples.back().value, 50, 1e-9) << "memory";
  EXPECT_NEAR((*usage)[3].samples.back().value, 100, 1e-9) << "GPU";
  const auto calls = (*again)->operators("rank-00001", 3);
  ASSERT_TRUE(calls.ok()) << calls.status().to_string();
  EXPECT_NE(std::find(calls->names.begin(), calls->names.end(), "gemm_kernel \"x\""), calls->names.end());
}

TEST_F(ProfilerExportTest, NothingIsWrittenOverAndNothingMadeUp) {
  export_run();
  TestRun run = profiled_run();
  const auto trial = run.open();
  EXPECT_EQ(export_profiler(*trial, {.out = in("p")}).status().code(), Code::kAlreadyExists);
  EXPECT_TRUE(export_profiler(*trial, {.out = in("p"), .force = true}).ok());
  EXPECT_EQ(export_profiler(*trial, {.out = in("q"), .workers = {"rank-00009"}}).status().code(), Code::kNotFound);
  TestRun plain;
  plain.add_steps(0, 3);
  const auto without = plain.open();
  EXPECT_EQ(export_profiler(*without, {.out = in("r")}).status().code(), Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(in("r")));
}

// Its readers of system metrics and of timelines, and its frames of Pandas.
TEST_F(ProfilerExportTest, SmdebugReadsIt) {
  const char* python = std::getenv("TRAINWARDEN_RIVALS_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "TRAINWARDEN_RIVALS_PYTHON names no Python with smdebug";
  const ProfilerExportReport report = export_run();
  const std::string command =
      fmt::format("'{}' '{}' '{}' {} {} {} > '{}' 2>&1", python, TW_SOURCE_DIR "/src/read/transfer/profiler_readers.py",
                  in("p").string(), report.samples, report.steps, report.calls, in("log").string());
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(in("log"));
}

}  // namespace
}  // namespace trainwarden::transfer
