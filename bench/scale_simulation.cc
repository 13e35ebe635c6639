// A run with many workers: what it takes to open it, to follow it and to keep it in a bucket, by driving the real trial
// and the real mirror over journals that the real writer wrote. Prints the measured tables of docs/design/scale.md.
//
//     scale_simulation [--workers N]... [--check]
//
// --check: exits 1 unless few files are open, every step is found, and the mirror asks for no more than it must.
//
// What is simulated: the training. Its writers live in processes of their own, which append when they are told to; each
// journal is short. Times are of the processor, of the reading thread, so that other work on the machine adds little.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "in_child.h"
#include "line_program.h"
#include "store/journal/journal_writer.h"
#include "store/s3/bucket_mirror.h"
#include "store/s3/s3_storage.h"
#include "store/storage/local_storage.h"
#include "store/storage/memory_storage.h"
#include "temporary_folder.h"
#include "trainwarden/statistics.h"
#include "trainwarden/tensor_view.h"
#include "trainwarden/trial.h"

namespace trainwarden::bench {
namespace {

constexpr int kWritersInProcess = 4'096;  // a lock, and a file, for each
constexpr std::uint32_t kTensors = 24;
constexpr int kLooks = 5;
constexpr int kUsualOpenFiles = 1'024;  // what a process may have unless somebody asks for more

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

template <class T>
T value_of(Result<T> result) {
  must(result.status());
  return std::move(*result);
}

struct Setting {
  int workers = 1;
  std::int64_t steps = 100;  // before the first look
};

Setting setting_of(int workers) {
  return {workers, std::clamp<std::int64_t>(10'000 / workers, 4, 200)};
}

journal::StepBatch step_of(std::int64_t step) {
  journal::StepBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.mode_step = step;
  for (std::uint32_t id = 0; id < kTensors; ++id) {
    if (step == 0) batch.new_names.push_back({id, fmt::format("layers.{}.attention.weight", id), {"gradients"}});
    journal::StatisticsRow row;
    row.id = id;
    row.shape = {4096, 4096};
    row.statistics.count = 4096 * 4096;
    batch.statistics.push_back(std::move(row));
  }
  return batch;
}

// --- the training ---------------------------------------------------------------------------------------------------

class Writers {
 public:
  Writers(const std::filesystem::path& folder, int first, int count, int world_size)
      : storage_(storage::open_local_storage(folder)) {
    journal::RunInfo info;
    info.id = "00112233445566778899aabbccddeeff";
    info.created_unix_ns = system_clock().unix_ns();
    info.world_size = world_size;
    const journal::RunInfo run = value_of(journal::create_or_join_run(*storage_, info));
    for (int rank = first; rank < first + count; ++rank) {
      journal::JournalOptions options;
      options.writer = journal::worker_name(rank);
      options.writer_id = static_cast<std::uint32_t>(rank);
      writers_.push_back(value_of(journal::JournalWriter::open(*storage_, system_clock(), run, options)));
    }
  }
  void append(std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i, ++next_step_) {
      const journal::StepBatch batch = step_of(next_step_);
      for (const auto& writer : writers_) must(writer->append_step(batch));
    }
  }

 private:
  const std::unique_ptr<storage::Storage> storage_;
  std::vector<std::unique_ptr<journal::JournalWriter>> writers_;
  std::int64_t next_step_ = 0;
};

// Processes that hold all writers.
class Training {
 public:
  Training(const std::filesystem::path& folder, int workers, const char* program) {
    for (int first = 0; first < workers; first += kWritersInProcess) {
      const int count = std::min(kWritersInProcess, workers - first);
      parts_.push_back(std::make_unique<LineProgram>(
          std::vector<std::string>{program, "--writers", folder.string(), std::to_string(first), std::to_string(count),
                                   std::to_string(workers)}));
    }
    for (const auto& part : parts_) part->read_line();
  }
  void append(std::int64_t steps) {
    for (const auto& part : parts_) part->ask(std::to_string(steps));
  }

 private:
  std::vector<std::unique_ptr<LineProgram>> parts_;
};

// This program as a part of the training: a line with a number has each writer append so many steps.
int write_when_told(char** arguments) {
  Writers writers(arguments[0], std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3]));
  std::puts("ready");
  std::fflush(stdout);
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    writers.append(std::atoi(line));
    std::puts("done");
    std::fflush(stdout);
  }
  return 0;
}

// --- what is measured -----------------------------------------------------------------------------------------------

struct Reading {
  double open_ms = 0, open_mib = 0;  // of memory, beyond what the program has anyway
  double look_ms = 0;                // that finds a new step of each worker
  double idle_look_ms = 0;           // that finds nothing
  double open_files = 0;
};

double resident_mib() {
  long pages = 0, ignored = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double open_file_count() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<double>(std::distance(begin(files), end(files)));
}

template <class Function>
double cpu_ms(Function&& function) {
  const double before = thread_cpu_ns();
  function();
  return (thread_cpu_ns() - before) / 1e6;
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

std::vector<double> follow(const std::filesystem::path& folder, Training& training, const Setting& setting) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, kUsualOpenFiles);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const double mib_before = resident_mib();
  std::unique_ptr<Trial> trial;
  const double open_ms = cpu_ms([&] { trial = value_of(Trial::open(folder)); });
  const double open_mib = resident_mib() - mib_before;
  std::vector<double> looks, idle_looks;
  for (int look = 0; look < kLooks; ++look) {
    training.append(1);
    looks.push_back(cpu_ms([&] { must(trial->refresh()); }));
    idle_looks.push_back(cpu_ms([&] { must(trial->refresh()); }));
  }
  if (trial->last_complete_step() != setting.steps + kLooks - 1) throw std::runtime_error("steps are missing");
  if (static_cast<int>(trial->workers().size()) != setting.workers) throw std::runtime_error("workers are missing");
  if (!trial->losses().empty()) throw std::runtime_error("something is lost");
  return {open_ms, open_mib, median(looks), median(idle_looks), open_file_count()};
}

struct Mirroring {
  double requests = 0, cpu_ms = 0;  // of a look that finds a new step of each worker
};

Mirroring keep_in_bucket(const std::filesystem::path& folder, Training& training) {
  const auto place = value_of(storage::reach_bucket("s3://bench/run"));
  storage::BucketMirror mirror(storage::open_local_storage(folder), place.client, place.prefix);
  must(mirror.begin());
  must(mirror.look(false).problem);
  training.append(1);
  Mirroring result;
  const std::uint64_t before = place.client->use().requests;
  storage::MirrorRound round;
  result.cpu_ms = cpu_ms([&] { round = mirror.look(false); });
  must(round.problem);
  result.requests = static_cast<double>(place.client->use().requests - before);
  return result;
}

struct Row {
  Setting setting;
  Reading reading;
  Mirroring mirroring;
};

Row measure(const char* program, int workers) {
  const TemporaryFolder folder;
  Row row;
  row.setting = setting_of(workers);
  Training training(folder.path() / "run", workers, program);
  training.append(row.setting.steps);
  const ChildReport report = value_of(in_child([&] { return follow(folder.path() / "run", training, row.setting); }));
  row.reading = {report.numbers.at(0), report.numbers.at(1), report.numbers.at(2), report.numbers.at(3),
                 report.numbers.at(4)};
  row.mirroring = keep_in_bucket(folder.path() / "run", training);
  return row;
}

void print(const std::vector<Row>& rows) {
  fmt::print(
      "| workers | steps | opening | its memory | a look that finds a step of each | one that finds nothing | files "
      "open | requests of the mirror | its processor time |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const Row& row : rows) {
    fmt::print("| {} | {} | {:.1f} ms | {:.1f} MiB | {:.2f} ms | {:.2f} ms | {:.0f} | {:.0f} | {:.1f} ms |\n",
               row.setting.workers, row.setting.steps, row.reading.open_ms, row.reading.open_mib, row.reading.look_ms,
               row.reading.idle_look_ms, row.reading.open_files, row.mirroring.requests, row.mirroring.cpu_ms);
  }
}

// What a row of statistics of elements that are spread as weights are takes in a journal.
double bytes_of_row() {
  constexpr std::uint32_t kRows = 1'000;
  std::vector<float> elements(4'096);
  std::uint32_t state = 1;
  journal::StepBatch batch;
  for (std::uint32_t id = 0; id < kRows; ++id) {
    for (float& element : elements) {
      state = state * 1'664'525 + 1'013'904'223;
      element = (static_cast<float>(state >> 8) / (1 << 24) - 0.5F) * 0.04F;
    }
    const TensorView view = TensorView::of(elements.data(), DType::kFloat32, {4'096});
    batch.new_names.push_back({id, fmt::format("layers.{}.attention.weight", id), {"gradients"}});
    batch.statistics.push_back({});
    batch.statistics.back().id = id;
    batch.statistics.back().shape = {4'096};
    batch.statistics.back().statistics = value_of(compute_statistics(view));
  }
  const auto memory = storage::create_memory_storage();
  journal::RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  journal::JournalOptions options;
  options.writer = "rank-00000";
  const auto writer = value_of(journal::JournalWriter::open(*memory, system_clock(), info, options));
  must(writer->append_step(batch));  // with the names, once for each segment
  const std::uint64_t before = writer->written_bytes();
  batch.global_step = 1;
  batch.new_names.clear();
  must(writer->append_step(batch));
  return static_cast<double>(writer->written_bytes() - before) / kRows;
}

int check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const bool few_files = row.reading.open_files < kUsualOpenFiles;
    const bool few_requests = row.mirroring.requests <= 2.0 * row.setting.workers + 2;
    if (few_files && few_requests) continue;
    fmt::print(stderr, "{} workers: {} files open, {} requests of the mirror\n", row.setting.workers,
               row.reading.open_files, row.mirroring.requests);
    return 1;
  }
  return 0;
}

int run(int count, char** words) {
  if (count == 6 && std::strcmp(words[1], "--writers") == 0) return write_when_told(words + 2);
  std::vector<int> workers;
  bool checks = false;
  for (int i = 1; i < count; ++i) {
    const bool has_number = i + 1 < count && std::strcmp(words[i], "--workers") == 0;
    if (has_number) workers.push_back(std::max(1, std::atoi(words[++i])));
    if (!has_number && std::strcmp(words[i], "--check") != 0) {
      fmt::print(stderr, "usage: scale_simulation [--workers N]... [--check]\n");
      return 2;
    }
    checks = checks || !has_number;
  }
  if (workers.empty()) workers = checks ? std::vector{1, 64, 1'100} : std::vector{1, 64, 1'024, 16'384};
  LineProgram server({TW_BUCKET_SERVER});
  const std::string address = "http://127.0.0.1:" + server.read_line().substr(std::strlen("port "));
  ::setenv("AWS_ENDPOINT_URL", address.c_str(), 1);
  ::setenv("AWS_ACCESS_KEY_ID", "bench", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "bench", 1);
  ::setenv("AWS_REGION", "us-east-1", 1);
  std::vector<Row> rows;
  for (const int number : workers) rows.push_back(measure(words[0], number));
  print(rows);
  fmt::print("\nA row of statistics takes {:.0f} bytes.\n", bytes_of_row());
  return checks ? check(rows) : 0;
}

}  // namespace
}  // namespace trainwarden::bench

int main(int count, char** words) {
  try {
    return trainwarden::bench::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
