// Figures of the store: how fast a run opens, and how near writing comes to what the disk can do.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "core/base/clock.h"
#include "store/journal/format_versions.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"
#include "store/storage/local_storage.h"
#include "store_growth.h"
#include "temporary_folder.h"

namespace trainwarden::bench {
namespace {

// A benchmark that cannot do its work has no figure.
void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

journal::RunInfo run_info() {
  journal::RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  info.format_version = journal::kNewestVersion;
  return info;
}

std::unique_ptr<journal::JournalWriter> open_writer(storage::Storage& storage) {
  journal::JournalOptions options;
  options.writer = "rank-00000";
  auto writer = journal::JournalWriter::open(storage, system_clock(), run_info(), options);
  must(writer.status());
  return std::move(*writer);
}

// --- store.open_100k_ms ---------------------------------------------------------------------------------------------

constexpr int kOpenSteps = 1000;
constexpr std::uint32_t kTensorsPerStep = 100;  // 40 values, 40 rows of statistics, 20 scalars
constexpr int kOpenRounds = 15;

journal::StepBatch step_of_100(std::int64_t step, ByteSpan element_bytes) {
  journal::StepBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.mode_step = step;
  for (std::uint32_t id = 0; id < kTensorsPerStep; ++id) {
    if (step == 0) batch.new_names.push_back({id, fmt::format("encoder.layer{}.attention.weight", id), {"weights"}});
    if (id < 40) {
      batch.tensors.push_back({id, DType::kFloat32, {4, 4}, element_bytes, {}});
    } else if (id < 80) {
      journal::StatisticsRow row;
      row.id = id;
      row.shape = {4, 4};
      row.statistics.count = 16;
      batch.statistics.push_back(std::move(row));
    } else {
      batch.scalars.push_back({id, static_cast<double>(step)});
    }
  }
  return batch;
}

void write_run_of_100k(storage::Storage& storage, bool sealed) {
  const std::vector<std::byte> element_bytes(4 * 4 * sizeof(float));
  const auto writer = open_writer(storage);
  for (int step = 0; step < kOpenSteps; ++step) must(writer->append_step(step_of_100(step, element_bytes)));
  if (sealed) must(writer->seal());
}

// Opens the run and takes in which tensors each step holds, as a trial does.
void open_run(const storage::Storage& storage) {
  auto reader = journal::JournalReader::open(storage, run_info(), "rank-00000", {});
  must(reader.status());
  std::size_t record_count = 0;
  for (std::size_t i = 0; i < (*reader)->steps().size(); ++i) {
    const auto records = (*reader)->records(i);
    must(records.status());
    record_count += records->size();
  }
  if (record_count != std::size_t{kOpenSteps} * kTensorsPerStep) must(Status(Code::kInternal, "records are missing"));
}

Figure open_figure(std::string name, bool sealed, Goal goal, std::string limit) {
  const TemporaryFolder folder;
  const auto storage = storage::open_local_storage(folder.path());
  write_run_of_100k(*storage, sealed);
  std::vector<double> samples_ms;
  for (int round = 0; round < kOpenRounds; ++round) {
    samples_ms.push_back(elapsed_ns([&] { open_run(*storage); }) / 1e6);
  }
  return {std::move(name), spread_of(std::move(samples_ms)), "ms", goal, std::move(limit)};
}

Result<std::vector<Figure>> measure_open() {
  return std::vector<Figure>{
      open_figure("store.open_100k_ms", true, at_most(50), "decoding the index of 1,000 steps and 100,000 records"),
      open_figure("store.open_100k_ms.unsealed", false, {}, "decoding the head of each frame of 1,000 steps"),
  };
}

// --- store.write_vs_disk --------------------------------------------------------------------------------------------

constexpr std::size_t kTensorBytes = std::size_t{4} << 20;
constexpr int kTensorCount = 128;  // 512 MiB for each arm and round
constexpr int kWriteRounds = 5;
constexpr std::size_t kPageBytes = 4096;  // what O_DIRECT wants of addresses, lengths and places

using AlignedBytes = std::unique_ptr<std::byte, decltype(&std::free)>;

AlignedBytes random_tensor() {
  AlignedBytes bytes(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, kTensorBytes)), &std::free);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < kTensorBytes; i += sizeof state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes.get() + i, &state, sizeof state);
  }
  return bytes;
}

double write_journal(ByteSpan tensor) {
  const TemporaryFolder folder;
  const auto storage = storage::open_local_storage(folder.path());
  return elapsed_ns([&] {
    const auto writer = open_writer(*storage);
    for (int i = 0; i < kTensorCount; ++i) {
      journal::StepBatch batch;
      batch.global_step = i;
      if (i == 0) batch.new_names.push_back({0, "activation", {}});
      batch.tensors.push_back({0, DType::kFloat32, {1024, 1024}, tensor, {}});
      must(writer->append_step(batch));
    }
    must(writer->sync());
  });
}

double write_plain(ByteSpan tensor, int extra_flags) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "plain";
  return elapsed_ns([&] {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | extra_flags, 0600);
    bool good = file >= 0;
    for (int i = 0; i < kTensorCount && good; ++i) {
      good = ::write(file, tensor.data(), tensor.size()) == static_cast<ssize_t>(tensor.size());
    }
    good = good && ::fdatasync(file) == 0;
    if (file >= 0) ::close(file);
    if (!good) throw std::system_error(errno, std::generic_category(), path);
  });
}

Result<std::vector<Figure>> measure_write() {
  const AlignedBytes bytes = random_tensor();
  const ByteSpan tensor(bytes.get(), kTensorBytes);
  const std::array<std::function<double()>, 3> arms = {
      [&] { return write_journal(tensor); },
      [&] { return write_plain(tensor, 0); },
      [&] { return write_plain(tensor, O_DIRECT); },
  };
  const PairedRuns runs = measure_interleaved(kWriteRounds, arms);
  const std::size_t best = runs.ns(1).median < runs.ns(2).median ? 1 : 2;
  const auto gb_per_s = [&](std::size_t arm) { return kTensorBytes * kTensorCount / runs.ns(arm).median; };
  Figure figure;
  figure.name = "store.write_vs_disk";
  figure.value = runs.ratio(best, 0);
  figure.unit = "ratio";
  figure.goal = at_least(0.8);
  figure.limit = fmt::format("the disk: journal {:.2f} GB/s, write() {:.2f} GB/s, O_DIRECT {:.2f} GB/s, all synced",
                             gb_per_s(0), gb_per_s(1), gb_per_s(2));
  return std::vector<Figure>{figure};
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"store.open_100k_ms", measure_open},
          {"store.open_10m_ms", measure_open_10m},
          {"store.tail_256_core_pct", measure_tail_256},
          {"store.scalars_core_pct", measure_scalars},
          {"store.write_vs_disk", measure_write}};
}

}  // namespace trainwarden::bench
