#include "store/journal/golden_run.h"

#include <array>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <test_paths.h>

#include "data/format/run_event.h"
#include "store/journal/format_versions.h"

namespace trainwarden::journal {
namespace {

constexpr std::int64_t kTickNs = 1'000'000'000;
constexpr std::size_t kSealedSteps = 3;

RunInfo golden_run_info(Golden golden) {
  RunInfo info = sample_run_info();
  if (golden == Golden::kCompressed) info.format_version = kCompressedVersion;
  return info;
}

void write_rank(storage::Storage& storage, FakeClock& clock, Golden golden) {
  auto opened = JournalWriter::open(storage, clock, golden_run_info(golden), sample_journal_options());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  const auto writer = *std::move(opened);
  const auto steps = golden_steps(golden);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    clock.advance_ns(kTickNs);
    if (golden == Golden::kSamples) {
      ASSERT_TRUE(writer->append_samples(golden_samples(i)).ok());
    }
    ASSERT_TRUE(writer->append_step(steps[i]->batch()).ok());
    if (golden == Golden::kOperators) {
      ASSERT_TRUE(writer->append_operators(golden_operators(i)).ok());
    }
    if (i + 1 == kSealedSteps) {
      ASSERT_TRUE(writer->append_event(format::FrameKind::kEvent, 2, R"({"type":"note","text":"half-way"})").ok());
      ASSERT_TRUE(writer->seal().ok());
    }
  }
  ASSERT_TRUE(writer->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({true, "golden"})).ok());
}

void write_watch(storage::Storage& storage, FakeClock& clock) {
  JournalOptions options = sample_journal_options();
  options.writer = "watch-0";
  options.writer_id = *writer_id_of(options.writer);
  options.collections.clear();
  const auto writer = open_sample_writer(storage, clock, options);
  ASSERT_TRUE(writer->append_event(format::FrameKind::kVerdict, 2, R"({"rule":"VanishingGradient"})").ok());
  clock.advance_ns(kTickNs);
  ASSERT_TRUE(writer->append_event(format::FrameKind::kAction, -1, R"({"action":"stop"})").ok());
}

}  // namespace

void write_golden_run(storage::Storage& storage, Golden golden) {
  FakeClock clock;
  ASSERT_TRUE(create_or_join_run(storage, golden_run_info(golden)).ok());
  write_rank(storage, clock, golden);
  if (golden == Golden::kFirst) write_watch(storage, clock);
}

std::vector<std::unique_ptr<SampleStep>> golden_steps(Golden golden) {
  std::vector<std::unique_ptr<SampleStep>> steps;
  if (golden == Golden::kReductions) {
    for (int step = 0; step < 5; ++step) steps.push_back(step_of_reductions(step, step == 0));
    return steps;
  }
  if (golden == Golden::kShared) {
    for (int step = 0; step < 5; ++step) steps.push_back(step_of_many_scalars(step, step == 0));
    return steps;
  }
  if (golden == Golden::kSamples || golden == Golden::kOperators) {
    for (int step = 0; step < 5; ++step) steps.push_back(small_step(step, step == 0));
    return steps;
  }
  steps.push_back(step_of_everything(0, Mode::kTrain, 0, true));
  steps.push_back(step_of_everything(1, Mode::kTrain, 1, false));
  steps.push_back(step_of_everything(2, Mode::kEval, 0, false));
  steps.push_back(step_of_everything(3, Mode::kTrain, 2, false));
  steps.push_back(step_of_everything(4, Mode::kPredict, 0, false));
  return steps;
}

// A metric of each kind and source; each encoding, and a device that is sampled at ticks of its own and misses one.
SampleBatch golden_samples(std::size_t step) {
  constexpr std::int64_t kTenthNs = kTickNs / 10;
  const auto start = static_cast<std::int64_t>(step) * kTickNs;
  const auto n = static_cast<double>(step);
  SampleBatch batch;
  if (step == 0) {
    batch.new_metrics = {{0, {"memory.total", "bytes", MetricKind::kGauge, MetricSource::kHost, "node7"}},
                         {1, {"cpu.time", "jiffies", MetricKind::kCounter, MetricSource::kProcess, "4711"}},
                         {2, {"disk.read", "bytes", MetricKind::kCounter, MetricSource::kHost, "node7"}},
                         {3, {"step.rate", "", MetricKind::kDelta, MetricSource::kRank, "0"}},
                         {4, {"utilisation", "", MetricKind::kRatio, MetricSource::kDevice, "GPU-0"}},
                         {5, {"odd\xFFname", "celsius", MetricKind::kGauge, MetricSource::kDevice, "GPU-0"}}};
  }
  SampleTable host{{start, start + kTenthNs, start + 2 * kTenthNs}, {}};
  host.series = {{0, {64e9, 64e9, 64e9}},
                 {1, {100 * n, 100 * n + 30, 100 * n + 60}},
                 {2, {1e6 * n, 1e6 * n + 70'000, 1e6 * n + 140'001}},
                 {3, {1.0 / 3, 2.0 / 3 + n, -0.0}}};
  SampleTable device{{start + 1, start + 5 * kTenthNs}, {{4, {0.25, 0.75}}, {5, {61.5}, {false, true}}}};
  batch.tables = {std::move(host), std::move(device)};
  return batch;
}

// Each kind, two threads and a stream; calls within calls, numbers of each width, names of any bytes.
OperatorBatch golden_operators(std::size_t step) {
  OperatorBatch batch;
  batch.global_step = static_cast<std::int64_t>(step);
  batch.mode = Mode::kTrain;
  if (step == 4) return batch;
  const std::int64_t start = 1'700'000'000'000'000'000 + batch.global_step * kTickNs;
  batch.names = {"aten::addmm", "AddmmBackward0", "odd\xFF\n\"name", "gemm", "Memcpy HtoD"};
  batch.tracks = {{"thread 4711", 4711, false}, {"thread 4712", 4712, false}, {"GPU-0 stream 7", 7, true}};
  batch.calls = {{2, 0, OperatorKind::kUser, start, 6'000'000'000, -1},
                 {0, 0, OperatorKind::kOperator, start, 200, 70'000},
                 {0, 0, OperatorKind::kOperator, start + 300, 70'000, 70'001},
                 {0, 0, OperatorKind::kOperator, start + 5'000'000'000, 0, -1},
                 {1, 1, OperatorKind::kBackward, start + 80'000, 400, 70'001},
                 {4, 2, OperatorKind::kCopy, start + 10, 1, -1},
                 {3, 2, OperatorKind::kKernel, start + 20, 255, -1}};
  batch.memory = {
      {start + 5, 4096, 1 << 20, -1}, {start + 5, 1 << 30, std::int64_t{1} << 40, 0}, {start + 9, -4096, 0, -1}};
  batch.lost_calls = step;
  return batch;
}

std::vector<std::string> golden_files(Golden golden) {
  std::vector<std::string> files = {"run.json", "journal/rank-00000/seg-00000000.tw",
                                    "journal/rank-00000/seg-00000001.tw"};
  if (golden == Golden::kFirst) files.emplace_back("journal/watch-0/seg-00000000.tw");
  return files;
}

std::string golden_path(const std::string& file, Golden golden) {
  constexpr std::array kFolders = {"v1", "v1-reductions", "v1-samples", "v1-operators", "v1-shared", "v2"};
  return fmt::format(TW_SOURCE_DIR "/testdata/golden/{}/{}", kFolders[static_cast<std::size_t>(golden)], file);
}

std::unique_ptr<storage::MemoryStorage> load_golden_run(Golden golden) {
  auto storage = storage::create_memory_storage();
  for (const std::string& file : golden_files(golden)) {
    std::ifstream stream(golden_path(file, golden), std::ios::binary);
    EXPECT_TRUE(stream.good()) << golden_path(file, golden) << " is missing";
    storage->set_content(file, std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  return storage;
}

}  // namespace trainwarden::journal
