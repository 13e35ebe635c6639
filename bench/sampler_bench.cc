// What the sampler costs at its defaults while it writes a run: all of its threads, ticks and writing, as a share of
// one processor, beside what the kernel takes for the reads alone and what psutil takes for the same; what its samples
// take on disk; and the same on made machines with many processors and with many processes.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bare_reads.h"
#include "bench.h"
#include "core/base/text.h"
#include "measure/sampling/sampler.h"
#include "store/journal/run_folder.h"
#include "temporary_folder.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;
constexpr std::chrono::seconds kWarmUp{1};  // the run is made, files are opened: once in hours
constexpr std::chrono::seconds kRound{8};

// Of this process, all threads, those that have ended too.
double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Round {
  double percent = 0;           // of a processor
  double bytes_per_second = 0;  // of the journal
};

Result<Round> sample_for_a_while(const fs::path& root, pid_t process) {
  const TemporaryFolder folder;
  sampling::SamplerPlan plan{storage::Location(folder.path() / "run")};
  plan.makes_run = true;
  plan.host.root = root;
  plan.host.roots = [process] { return std::vector<pid_t>{process}; };
  sampling::Sampler sampler(std::move(plan));
  std::this_thread::sleep_for(kWarmUp);
  const auto began = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  std::this_thread::sleep_for(kRound);
  const double spent = processor_seconds() - before;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  TRAINWARDEN_RETURN_IF_ERROR(sampler.finish(true).status);
  storage::Location run(folder.path() / "run");
  const auto bytes = static_cast<double>(journal::journal_bytes(run.storage()));
  return Round{100 * spent / passed.count(), bytes / (passed + kWarmUp).count()};
}

// Percent of a processor; nothing where there is no Python with psutil.
std::optional<double> psutil_percent() {
  const char* const python = std::getenv("TRAINWARDEN_RIVALS_PYTHON");
  if (python == nullptr) return std::nullopt;
  const std::string command = fmt::format("'{}' '{}' {}", python, TW_PSUTIL_SAMPLER, kRound.count());
  FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) return std::nullopt;
  std::array<char, 64> line{};
  const bool read = std::fgets(line.data(), line.size(), output) != nullptr;
  const bool fine = ::pclose(output) == 0 && read;
  const auto seconds = fine ? parse_double(trim(line.data())) : std::nullopt;
  return seconds ? std::optional(100 * *seconds / static_cast<double>(kRound.count())) : std::nullopt;
}

// Round by round, so that what disturbs a round disturbs all.
Result<std::vector<Figure>> measure_here() {
  BareReads bare;
  std::vector<double> percents, limits, over_limit, rates, psutil, over_us;
  for (int i = 0; i < kRounds; ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Round round, sample_for_a_while("/", ::getpid()));
    const double limit = 100 * bare.run(kRound) / static_cast<double>(kRound.count());
    percents.push_back(round.percent);
    limits.push_back(limit);
    over_limit.push_back(round.percent / limit);
    rates.push_back(round.bytes_per_second * 3600 / (1 << 20));
    const auto rival = psutil_percent();
    if (!rival) continue;
    psutil.push_back(*rival);
    over_us.push_back(*rival / round.percent);
  }
  std::vector<Figure> figures{
      {"sampler.core_pct", spread_of(std::move(percents)), "%", at_most(0.1),
       "of one processor, at 100 ms: the kernel, which writes what is read"},
      {"sampler.core_pct.kernel", spread_of(std::move(limits)), "%", Goal{},
       fmt::format("the limit: {} files read at the same times and not looked at, in a thread that wakes for it",
                   bare.files())},
      {"sampler.core_pct.vs_kernel", spread_of(std::move(over_limit)), "ratio", Goal{},
       "numbers of texts, two more threads, a write each two seconds"},
      {"sampler.mib_per_hour", spread_of(std::move(rates)), "MiB", Goal{},
       fmt::format("of a run of {} s on a machine of {} processors", (kRound + kWarmUp).count(),
                   std::thread::hardware_concurrency())},
  };
  if (psutil.empty()) return figures;
  figures.push_back({"sampler.core_pct.psutil", spread_of(std::move(psutil)), "%", Goal{},
                     "the same counters as often, but for pressure and control groups; none kept"});
  figures.push_back({"sampler.core_pct.psutil_vs_us", spread_of(std::move(over_us)), "ratio", Goal{}, "Python"});
  return figures;
}

void write_text(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void write_processors(const fs::path& root, int count) {
  std::string stat = "cpu  25600 0 12800 256000 2560 0 10 20 0 0\n";
  for (int i = 0; i < count; ++i) stat += fmt::format("cpu{} {} 0 12345678 256000000 2560 0 10 20 0 0\n", i, 1000 + i);
  write_text(root / "proc/stat", stat + "intr" + std::string(16'000, '0') + "\nprocs_running 2\nprocs_blocked 0\n");
}

// Without lists of children, so that all have to be looked at; `below` of them are below the first.
void write_processes(const fs::path& root, int count, int below) {
  write_text(root / "proc/loadavg", "0.20 0.18 0.12 1/80 99\n");
  for (int id = 1; id <= count; ++id) {
    const fs::path folder = root / "proc" / std::to_string(id);
    const int parent = id > 1 && id <= below ? 1 : 0;
    write_text(folder / "stat", fmt::format("{} (python3) S {} 1 1 0 -1 0 0 0 0 0 {} 5 0 0 20 0 4 0 {} 0 0\n", id,
                                            parent, 100 + id, 1000 + id));
    if (id > below) continue;
    write_text(folder / "statm", "400000 300000 50000 1 0 100 0\n");
    write_text(folder / "io", "rchar: 1\nwchar: 1\nread_bytes: 4096\nwrite_bytes: 4096\n");
    write_text(folder / "schedstat", "12345678 2345678 99\n");
  }
}

// Ordinary files, so that it is our part, and not what a kernel takes to write them.
Result<Figure> measure_made(const std::string& name, const fs::path& root, const std::string& limit) {
  std::vector<double> percents;
  for (int i = 0; i < 3; ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Round round, sample_for_a_while(root, 1));
    percents.push_back(round.percent);
  }
  return Figure{"sampler.core_pct." + name, spread_of(std::move(percents)), "%", Goal{}, limit};
}

Result<std::vector<Figure>> measure() {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<Figure> figures, measure_here());
  const TemporaryFolder processors, processes;
  write_processors(processors.path(), 256);
  write_processors(processes.path(), 2);
  write_processes(processes.path(), 10'000, 200);
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Figure many, measure_made("256_processors", processors.path(), "1,280 values at each tick; files that are made"));
  TRAINWARDEN_ASSIGN_OR_RETURN(Figure crowd, measure_made("10000_processes", processes.path(),
                                                          "200 of them the training's; files that are made"));
  figures.push_back(std::move(many));
  figures.push_back(std::move(crowd));
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"sampler.", measure}};
}

}  // namespace trainwarden::bench
