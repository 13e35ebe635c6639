// Readers that are not ours on what is exported: smdebug, TensorBoard, safetensors, NumPy, Perfetto, MCAP, Arrow,
// DuckDB. The JSON of the same run says what they must find; of Perfetto's traces, the Chrome trace.
#include <cstdlib>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <test_paths.h>

#include "read/transfer/operator_trace.h"
#include "read/transfer/transfer_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

class ForeignReaders : public TransferTest {
 protected:
  void SetUp() override {
    python_ = std::getenv("TRAINWARDEN_RIVALS_PYTHON");
    newer_python_ = std::getenv("TRAINWARDEN_FORMATS_PYTHON");
    if (python_ == nullptr || newer_python_ == nullptr) {
      GTEST_SKIP()
          << "TRAINWARDEN_RIVALS_PYTHON and TRAINWARDEN_FORMATS_PYTHON name no Pythons with the foreign readers";
    }
  }

  // The script's verdict on the export of `trial`.
  void expect_agreement(Trial& trial, ExportOptions options) {
    options.out = in("out");
    export_all(trial, options);
    export_all(trial, {.format = ExportFormat::kJson, .out = in("truth.json"), .choice = options.choice});
    const std::string log = in("log").string();
    const bool newer = options.format == ExportFormat::kMcap || options.format == ExportFormat::kParquet;
    const std::string command =
        fmt::format("SMDEBUG_TRAINING_END_DELAY_REFRESH=0 SMDEBUG_LOG_LEVEL=error '{}' '{}' {} '{}' '{}' > '{}' 2>&1",
                    newer ? newer_python_ : python_, TW_SOURCE_DIR "/src/read/transfer/foreign_readers.py",
                    name(options.format), options.out.string(), in("truth.json").string(), log);
    EXPECT_EQ(std::system(command.c_str()), 0) << read_text(log);
  }

 private:
  const char* python_ = nullptr;
  const char* newer_python_ = nullptr;
};

// Two workers, and the last step in another mode.
TestRun workers_and_modes() {
  TestRun run(2);
  for (std::int64_t step = 0; step < 3; ++step) {
    for (int worker = 0; worker < 2; ++worker) {
      const float base = static_cast<float>(step * 10 + worker);
      run.add({.step = step,
               .tensors = {kept("weight", {base, -base, 0.25f, 0.5f}), scalar("loss", 1.0f / (base + 1.0f)),
                           reduced("gradient", {base, 2, 3}), strings("words", {"grüße", "", "日本"})},
               .mode = step == 2 ? Mode::kEval : Mode::kTrain,
               .mode_step = step == 2 ? 0 : step,
               .worker = worker});
    }
  }
  run.end(0);
  run.end(1);
  return run;
}

class EachFormat : public ForeignReaders, public testing::WithParamInterface<ExportFormat> {};

TEST_P(EachFormat, EveryTypeAndForm) {
  const auto trial = write_sample_run(in("run"));
  expect_agreement(*trial, {.format = GetParam(), .images = {"layer5"}});
}

TEST_P(EachFormat, WorkersAndModes) {
  const TestRun run = workers_and_modes();
  const auto trial = run.open();
  expect_agreement(*trial, {.format = GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Formats, EachFormat,
                         testing::Values(ExportFormat::kSmdebug, ExportFormat::kTensorBoard, ExportFormat::kSafetensors,
                                         ExportFormat::kNpz, ExportFormat::kCsv, ExportFormat::kMcap,
                                         ExportFormat::kParquet),
                         [](const auto& format) { return std::string(name(format.param)); });

// Names that are no UTF-8, would end a text or drive a terminal, and more rows than one group of rows has.
class TablesAndLogs : public ForeignReaders, public testing::WithParamInterface<ExportFormat> {};

TEST_P(TablesAndLogs, HostileNames) {
  TestRun run;
  for (std::int64_t step = 0; step < 2; ++step) {
    run.add(
        {.step = step,
         .tensors = {scalar("odd\xFF/\"\n\\\x1b[31m", 0.5f), scalar("odd\xFE", std::numeric_limits<float>::quiet_NaN()),
                     scalar("%FF", -std::numeric_limits<float>::infinity()), scalar("../up", 1e-30f),
                     scalar(std::string(70'000, 'n'), 2.0f), scalar("grüße", 3.0f), kept("one", {0.25f})}});
  }
  run.end();
  const auto trial = run.open();
  expect_agreement(*trial, {.format = GetParam()});
}

TEST_P(TablesAndLogs, ManyRecords) {
  TestRun run;
  for (std::int64_t step = 0; step < 700; ++step) {
    std::vector<TestTensor> tensors;
    for (int i = 0; i < 100; ++i) tensors.push_back(scalar(fmt::format("metric{}", i), static_cast<float>(step * i)));
    run.add({.step = step, .tensors = std::move(tensors)});
  }
  run.end();
  const auto trial = run.open();
  expect_agreement(*trial, {.format = GetParam()});
}

TEST_P(TablesAndLogs, ARunWithoutSteps) {
  TestRun run;
  run.end();
  const auto trial = run.open();
  const ExportReport report = export_all(*trial, {.format = GetParam(), .out = in("empty")});
  EXPECT_EQ(report.records, 0u);
  EXPECT_GT(report.bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Formats, TablesAndLogs, testing::Values(ExportFormat::kMcap, ExportFormat::kParquet),
                         [](const auto& format) { return std::string(name(format.param)); });

// Workers, tracks that overlap in part, a device, memory, names of any bytes.
OperatorBatch traced_step(std::int64_t step, std::int64_t begin_ns) {
  const std::int64_t at = begin_ns + step * 1'000'000;
  OperatorBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.names = {"aten::linear", "odd\xFF\x01\n\"\\;name\xE2\x80\xA8", "AddmmBackward0", "gemm"};
  batch.tracks = {{"thread 1", 1, false}, {"GPU-0 stream 7", 7, true}};
  batch.calls = {{0, 0, OperatorKind::kOperator, at, 100'001, step},
                 {1, 0, OperatorKind::kOperator, at + 10, 40'000, step},
                 {2, 0, OperatorKind::kBackward, at + 200'000, 1'000, step},
                 {2, 0, OperatorKind::kBackward, at + 200'000, 0, -1},
                 {3, 1, OperatorKind::kKernel, at + 7, 50, -1},
                 {3, 1, OperatorKind::kCopy, at + 7 + 50, 5, -1}};
  batch.memory = {{at + 11, 4096, 8192, 0}, {at + 12, 64, 64, -1}};
  return batch;
}

class FileSink final : public TraceSink {
 public:
  explicit FileSink(const fs::path& path) : file_(path, std::ios::binary) {}
  Status append(std::string_view text) override {
    file_.write(text.data(), static_cast<std::streamsize>(text.size()));
    return file_ ? Status() : Status(Code::kUnavailable, "not written");
  }

 private:
  std::ofstream file_;
};

TEST_F(ForeignReaders, PerfettoFindsWhatTheChromeTraceHas) {
  const char* const perfetto = std::getenv("TRAINWARDEN_PERFETTO_PYTHON");
  ASSERT_NE(perfetto, nullptr) << "it is set with TRAINWARDEN_RIVALS_PYTHON";
  TestRun run(2);
  const std::int64_t begin_ns = run.clock().unix_ns();
  for (std::int64_t step = 3; step < 6; ++step) {
    run.operators(traced_step(step, begin_ns));
    run.operators(traced_step(step, begin_ns), 1);
  }
  run.sample({"loader.queue", "", MetricKind::kGauge, MetricSource::kRank, ""}, {0.5, 0.75, 0.9}, 1'000'000);
  const auto trial = run.open();
  for (const TraceFormat format : {TraceFormat::kPerfetto, TraceFormat::kChromeTrace}) {
    FileSink sink(in(std::string(name(format))));
    const auto report = write_trace(*trial, {.format = format}, sink);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->calls, 36u);
  }
  const std::string log = in("log").string();
  const std::string command =
      fmt::format("'{}' '{}' '{}' '{}' > '{}' 2>&1", perfetto, TW_SOURCE_DIR "/src/read/transfer/perfetto_reader.py",
                  in("perfetto").string(), in("chrome-trace").string(), log);
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(log);
}

TEST_F(ForeignReaders, SmdebugFindsInItsOwnRunsAfterUsWhatItFoundBefore) {
  const fs::path recorded = recorded_smdebug_runs();
  if (recorded.empty()) GTEST_SKIP() << "no recorded runs of smdebug here; TRAINWARDEN_SHARED_DATA names their folder";
  for (const char* run : {"cnn_reductions", "mlp_modes_scalar"}) {
    const auto imported = import_run(recorded / run, in(run));
    ASSERT_TRUE(imported.ok()) << imported.status().to_string();
    const auto trial = Trial::open(in(run));
    ASSERT_TRUE(trial.ok());
    fs::remove_all(in("out"));
    fs::remove(in("truth.json"));
    expect_agreement(**trial, {.format = ExportFormat::kSmdebug});
  }
}

}  // namespace
}  // namespace trainwarden::transfer
