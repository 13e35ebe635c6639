// What the sampler costs at its defaults while it writes a run: all of its threads, ticks and writing, as a share of
// one processor; and what its samples take on disk.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "bench.h"
#include "measure/sampling/sampler.h"
#include "store/journal/run_folder.h"
#include "temporary_folder.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;
constexpr std::chrono::seconds kRound{6};

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

Result<Round> sample_for_a_while() {
  const TemporaryFolder folder;
  sampling::SamplerPlan plan{storage::Location(folder.path() / "run")};
  plan.makes_run = true;
  plan.host.roots = [] { return std::vector<pid_t>{::getpid()}; };
  const auto began = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  sampling::Sampler sampler(std::move(plan));
  std::this_thread::sleep_for(kRound);
  const sampling::SamplerResult result = sampler.finish(true);
  TRAINWARDEN_RETURN_IF_ERROR(result.status);
  const double spent = processor_seconds() - before;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  storage::Location run(folder.path() / "run");
  const auto bytes = static_cast<double>(journal::journal_bytes(run.storage()));
  return Round{100 * spent / passed.count(), bytes / passed.count()};
}

Result<std::vector<Figure>> measure() {
  std::vector<double> percents, rates;
  for (int i = 0; i < kRounds; ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Round round, sample_for_a_while());
    percents.push_back(round.percent);
    rates.push_back(round.bytes_per_second * 3600 / (1 << 20));
  }
  return std::vector<Figure>{
      {"sampler.core_pct", spread_of(std::move(percents)), "%", at_most(0.1),
       "of one processor, at 100 ms: the kernel, which writes what is read"},
      {"sampler.mib_per_hour", spread_of(std::move(rates)), "MiB", Goal{},
       fmt::format("of a run of {} s on a machine of {} processors", kRound.count(),
                   std::thread::hardware_concurrency())},
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"sampler.core_pct", measure}};
}

}  // namespace trainwarden::bench
