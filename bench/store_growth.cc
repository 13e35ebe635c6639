#include "store_growth.h"

#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "data/format/run_event.h"
#include "in_child.h"
#include "store/journal/format_versions.h"
#include "store/journal/journal_writer.h"
#include "store/storage/local_storage.h"
#include "temporary_folder.h"
#include "trainwarden/trial.h"
#include "work/launch/watch_pace.h"

namespace trainwarden::bench {
namespace {

void must_be(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

template <class T>
T value_of(Result<T> result) {
  must_be(result.status());
  return std::move(*result);
}

std::unique_ptr<journal::JournalWriter> join(storage::Storage& storage, int rank, int world_size,
                                             int format_version = journal::kNewestVersion) {
  journal::RunInfo info;
  info.format_version = format_version;
  info.id = "00112233445566778899aabbccddeeff";
  info.created_unix_ns = system_clock().unix_ns();
  info.world_size = world_size;
  const journal::RunInfo run = value_of(journal::create_or_join_run(storage, info));
  journal::JournalOptions options;
  options.writer = journal::worker_name(rank);
  options.writer_id = static_cast<std::uint32_t>(rank);
  return value_of(journal::JournalWriter::open(storage, system_clock(), run, options));
}

// Statistics of so many weights and gradients, and so many scalars.
journal::StepBatch step_of(std::int64_t step, std::uint32_t statistics, std::uint32_t scalars) {
  journal::StepBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.mode_step = step;
  for (std::uint32_t id = 0; id < statistics + scalars; ++id) {
    if (step == 0) batch.new_names.push_back({id, fmt::format("encoder.layer{}.attention.weight", id), {"weights"}});
    if (id < statistics) {
      journal::StatisticsRow row;
      row.id = id;
      row.shape = {768, 768};
      row.statistics.count = 768 * 768;
      batch.statistics.push_back(std::move(row));
    } else {
      batch.scalars.push_back({id, static_cast<double>(step) + id / 128.0});
    }
  }
  return batch;
}

// --- store.open_10m_ms ----------------------------------------------------------------------------------------------

constexpr std::int64_t kLongSteps = 100'000;
constexpr std::uint32_t kLongStatistics = 20;
constexpr std::uint32_t kLongScalars = 80;
constexpr int kLongRounds = 9;
constexpr std::int64_t kSeriesStride = 10;

std::vector<double> write_long_run(const std::filesystem::path& folder, int format_version) {
  const auto storage = storage::open_local_storage(folder);
  const auto writer = join(*storage, 0, 1, format_version);
  for (std::int64_t step = 0; step < kLongSteps; ++step) {
    must_be(writer->append_step(step_of(step, kLongStatistics, kLongScalars)));
  }
  must_be(writer->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({})));
  must_be(writer->seal());
  return {static_cast<double>(writer->written_bytes())};
}

// Milliseconds: until steps and names are known, what of it the processor took, until it is known which steps hold a
// tensor, and until one value is there.
std::vector<double> open_long_run(const std::filesystem::path& folder) {
  std::unique_ptr<Trial> trial;
  const double before_ns = thread_cpu_ns();
  const double open_ns = elapsed_ns([&] { trial = value_of(Trial::open(folder)); });
  const double cpu_ns = thread_cpu_ns() - before_ns;
  if (trial->steps().size() != static_cast<std::size_t>(kLongSteps)) throw std::runtime_error("steps are missing");
  if (value_of(trial->tensor_names()).size() != kLongStatistics + kLongScalars) {
    throw std::runtime_error("tensors are missing");
  }
  const std::string tensor = fmt::format("encoder.layer{}.attention.weight", kLongStatistics);
  const double steps_ns = elapsed_ns([&] {
    const auto steps = trial->steps_of(tensor);
    if (steps.size() != static_cast<std::size_t>(kLongSteps)) throw std::runtime_error("steps of a tensor are missing");
  });
  const double value_ns = elapsed_ns([&] { keep(value_of(trial->scalar(tensor, kLongSteps / 2))); });
  const double series_ns = elapsed_ns([&] {
    for (std::int64_t step = 0; step < kLongSteps; step += kSeriesStride) keep(value_of(trial->scalar(tensor, step)));
  });
  return {open_ns / 1e6, cpu_ns / 1e6, steps_ns / 1e6, value_ns / 1e6, series_ns / (kLongSteps / kSeriesStride) / 1e3};
}

struct LongRunFigures {
  double run_mib = 0;
  std::array<std::vector<double>, 6> samples;  // as open_long_run() has them, and the peak of the process in MiB
};

Result<LongRunFigures> measure_long_run(int format_version) {
  const TemporaryFolder folder;
  const auto write = [&] { return write_long_run(folder.path(), format_version); };
  TRAINWARDEN_ASSIGN_OR_RETURN(const ChildReport written, in_child(write));
  LongRunFigures figures;
  figures.run_mib = written.numbers.at(0) / (1 << 20);
  for (int round = 0; round < kLongRounds; ++round) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ChildReport opened, in_child([&] { return open_long_run(folder.path()); }));
    for (std::size_t i = 0; i < 5; ++i) figures.samples[i].push_back(opened.numbers.at(i));
    figures.samples[5].push_back(opened.peak_mib);
  }
  return figures;
}

}  // namespace

Result<std::vector<Figure>> measure_open_10m() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const LongRunFigures run, measure_long_run(journal::kNewestVersion));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LongRunFigures plain, measure_long_run(journal::kPlainVersion));
  const auto& samples = run.samples;
  const std::string limit = fmt::format(
      "reading the index: {} steps of 3 frames, 140 bytes each, out of {:.0f} MiB; the run "
      "has {} records: at each step statistics of {} tensors and {} scalars",
      kLongSteps, run.run_mib, kLongSteps * (kLongStatistics + kLongScalars), kLongStatistics, kLongScalars);
  const std::string not_compressed = fmt::format("the same run, not compressed: {:.0f} MiB", plain.run_mib);
  return std::vector<Figure>{
      {"store.open_10m_ms", spread_of(samples[0]), "ms", at_most(100), limit},
      {"store.open_10m_ms.cpu", spread_of(samples[1]), "ms", {}, "the same without what else the machine does"},
      {"store.open_10m_ms.memory", spread_of(samples[5]), "MiB", at_most(200),
       "the peak of the process, which asks too"},
      {"store.open_10m_ms.steps_of_tensor", spread_of(samples[2]), "ms", {}, "the first question which steps hold one"},
      {"store.open_10m_ms.one_scalar", spread_of(samples[3]), "ms", {}, "the first value, out of its frame"},
      {"store.open_10m_ms.series", spread_of(samples[4]), "us", {}, "each value of a series, out of its frame"},
      {"store.open_10m_ms.plain", spread_of(plain.samples[0]), "ms", {}, not_compressed},
      {"store.open_10m_ms.plain_series", spread_of(plain.samples[4]), "us", {}, not_compressed},
  };
}

// --- store.tail_256_core_pct ----------------------------------------------------------------------------------------

namespace {

constexpr int kTailedWorkers = 256;
constexpr int kStepsEachSecond = 10;
constexpr int kTailedSeconds = 8;

// Writers and reader are played by one thread, by a clock of their own: what a look takes of the processor, and the
// rest that `trainwarden run` and `watch` take after it. So nobody sleeps, and what else the machine does counts for
// nothing.
class TailedRun {
 public:
  TailedRun() : storage_(storage::open_local_storage(folder_.path())) {
    for (int rank = 0; rank < kTailedWorkers; ++rank) writers_.push_back(join(*storage_, rank, kTailedWorkers));
    append_step();
    trial_ = value_of(Trial::open(folder_.path()));
  }

  struct Second {
    double core_pct = 0;
    double looks = 0;
  };
  Second play_second() {
    Second second;
    double cpu_ns = 0;
    for (const double end_ns = now_ns_ + 1e9; now_ns_ < end_ns; ++second.looks) {
      while (static_cast<double>(next_step_) * 1e9 / kStepsEachSecond < now_ns_) append_step();
      const double before_ns = thread_cpu_ns();
      must_be(trial_->refresh());
      const double look_ns = thread_cpu_ns() - before_ns;
      cpu_ns += look_ns;
      now_ns_ += look_ns + std::chrono::duration<double, std::nano>(pace_.after(std::llround(look_ns))).count();
    }
    if (trial_->last_complete_step() != next_step_ - 1) throw std::runtime_error("steps are missing");
    second.core_pct = cpu_ns / 1e9 * 100;
    return second;
  }

 private:
  void append_step() {
    for (const auto& writer : writers_) must_be(writer->append_step(step_of(next_step_, 10, 10)));
    ++next_step_;
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::Storage> storage_;
  std::vector<std::unique_ptr<journal::JournalWriter>> writers_;
  std::unique_ptr<Trial> trial_;
  const launch::WatchPace pace_{0, std::chrono::milliseconds(5)};
  std::int64_t next_step_ = 0;
  double now_ns_ = 0;
};

}  // namespace

Result<std::vector<Figure>> measure_tail_256() {
  TailedRun run;
  run.play_second();
  std::vector<double> percents, intervals_ms, look_ms;
  for (int second = 0; second < kTailedSeconds; ++second) {
    const TailedRun::Second played = run.play_second();
    percents.push_back(played.core_pct);
    intervals_ms.push_back(1e3 / played.looks);
    look_ms.push_back(played.core_pct * 10 / played.looks);
  }
  return std::vector<Figure>{
      {"store.tail_256_core_pct", spread_of(percents), "%", at_most(10),
       fmt::format("system calls: {} journals with {} steps a second, followed as `trainwarden watch` does",
                   kTailedWorkers, kStepsEachSecond)},
      {"store.tail_256_core_pct.look", spread_of(look_ms), "ms", {}, "one look at all of them"},
      {"store.tail_256_core_pct.interval",
       spread_of(intervals_ms),
       "ms",
       {},
       "from one look to the next: ten times what a look takes"}};
}

// --- store.scalars_core_pct -----------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kScalarsEachStep = 1'000;
constexpr int kScalarStepsEachSecond = 200;
constexpr int kScalarSeconds = 15;

std::vector<double> write_scalars(int format_version) {
  const TemporaryFolder folder;
  const auto storage = storage::open_local_storage(folder.path());
  const auto writer = join(*storage, 0, 1, format_version);
  must_be(writer->append_step(step_of(0, 0, kScalarsEachStep)));
  std::int64_t step = 1;
  std::vector<double> samples;
  for (int second = 0; second < kScalarSeconds; ++second) {
    double cpu_ns = 0;
    for (int i = 0; i < kScalarStepsEachSecond; ++i, ++step) {
      const journal::StepBatch batch = step_of(step, 0, kScalarsEachStep);
      const double before_ns = thread_cpu_ns();
      must_be(writer->append_step(batch));
      cpu_ns += thread_cpu_ns() - before_ns;
    }
    samples.push_back(cpu_ns / 1e9 * 100);
  }
  return samples;
}

}  // namespace

Result<std::vector<Figure>> measure_scalars() {
  return std::vector<Figure>{
      {"store.scalars_core_pct", spread_of(write_scalars(journal::kNewestVersion)), "%", at_most(5),
       fmt::format("{} steps a second with {} scalars each, of the writing thread: zstd, and one write() for each step",
                   kScalarStepsEachSecond, kScalarsEachStep)},
      {"store.scalars_core_pct.plain", spread_of(write_scalars(journal::kPlainVersion)), "%", {}, "not compressed"}};
}

}  // namespace trainwarden::bench
