// How long it takes from typing `trainwarden submit` until the program runs, and how fast `trainwarden job logs` hands
// on what a program has printed: whole programs, from their start to their end.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench.h"
#include "temporary_folder.h"
#include "typed_program.h"
#include "work/jobs/job_record.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kJobs = 15;
constexpr int kLogRounds = 5;
constexpr std::size_t kLogBytes = std::size_t{1} << 30;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

double now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

// The program writes down when it began.
void write_job_file(const fs::path& file) {
  std::ofstream(file) << "program = ['sh', '-c', 'date +%s%N > \"$TRAINWARDEN_JOB_DIR/began\"']\ncpus = 1\n";
}

process::EnvironmentChanges folders_below(const fs::path& folder) {
  process::EnvironmentChanges changes;
  for (const char* name : {"JOBS", "RUNS", "EXPERIMENTS", "CATALOGUE"}) {
    changes.set[std::string("TRAINWARDEN_") + name] = (folder / name).string();
  }
  return changes;
}

Result<double> submit_to_start_ms(const fs::path& folder, int number) {
  const process::EnvironmentChanges changes = folders_below(folder);
  const std::string name = fmt::format("job-{}", number);
  const double begin_ms = now_ms();
  TRAINWARDEN_RETURN_IF_ERROR(run_typed({"submit", (folder / "job.toml").string(), "--name", name}, changes).status());
  TRAINWARDEN_RETURN_IF_ERROR(run_typed({"job", "wait", name}, changes).status());
  double began_ns = 0;
  if (!(std::ifstream(folder / "JOBS" / name / "began") >> began_ns)) {
    return Status(Code::kInternal, "the program has not written when it began");
  }
  return began_ns / 1e6 - begin_ms;
}

Result<std::vector<Figure>> measure_start() {
  const TemporaryFolder folder;
  write_job_file(folder.path() / "job.toml");
  std::vector<double> rounds;
  for (int i = 0; i < kJobs; ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double ms, submit_to_start_ms(folder.path(), i));
    rounds.push_back(ms);
  }
  return std::vector<Figure>{{"jobs.submit_to_start_ms", spread_of(rounds), "ms", at_most(300),
                              "four processes start one after the other, files are synchronised with the disk"}};
}

// One that has ended, with a log of 1 GiB.
Result<fs::path> make_job_with_log(const fs::path& jobs) {
  jobs::JobOrder order;
  order.name = "talks";
  order.program = {"true"};
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobRecord job, jobs::JobRecord::create(jobs, order));
  std::int64_t seq = 2;
  for (const jobs::JobPhase phase :
       {jobs::JobPhase::kStarting, jobs::JobPhase::kTraining, jobs::JobPhase::kCompleted}) {
    std::ofstream(jobs / order.name / fmt::format("state/{:06}.json", seq))
        << jobs::encode_transition({seq, seq, phase, "agent", "it goes on"});
    ++seq;
  }
  std::string lines;
  while (lines.size() < kMebibyte) {
    lines += fmt::format("epoch 3 step {} loss 0.{:06} lr 0.001 samples/s 12345.6\n", lines.size(), lines.size());
  }
  std::ofstream log(job.output());
  for (std::size_t written = 0; written < kLogBytes; written += lines.size()) log << lines;
  return job.output();
}

double mb_per_s(std::uint64_t bytes, double ms) {
  return static_cast<double>(bytes) / 1e6 / (ms / 1e3);
}

// Bytes that are read and thrown away: what the disk's cache allows.
double reading_mb_per_s(const fs::path& file) {
  std::string piece(kMebibyte, '\0');
  std::uint64_t bytes = 0;
  const double ns = elapsed_ns([&] {
    std::ifstream in(file, std::ios::binary);
    while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
      bytes += static_cast<std::uint64_t>(in.gcount());
    }
  });
  return mb_per_s(bytes, ns / 1e6);
}

Result<std::vector<Figure>> measure_logs() {
  const TemporaryFolder folder;
  TRAINWARDEN_ASSIGN_OR_RETURN(const fs::path log, make_job_with_log(folder.path() / "JOBS"));
  const std::uint64_t bytes = fs::file_size(log);
  std::vector<double> rates, shares, memory;
  for (int round = 0; round < kLogRounds; ++round) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const process::ExitRecord record,
                                 run_typed({"job", "logs", "-f", "talks"}, folders_below(folder.path())));
    rates.push_back(mb_per_s(bytes, ms_of(record)));
    shares.push_back(rates.back() / reading_mb_per_s(log));
    memory.push_back(static_cast<double>(record.peak_memory_bytes) / kMebibyte);
  }
  return std::vector<Figure>{
      {"jobs.log_follow_mb_s", spread_of(rates), "MB/s", at_least(100), "reading the file"},
      {"jobs.log_follow_mb_s.vs_reading", spread_of(shares), "ratio", {}, "the same bytes read and thrown away"},
      {"jobs.log_follow_mb_s.memory", spread_of(memory), "MiB", at_most(64), "the program itself"}};
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"jobs.submit_to_start_ms", measure_start}, {"jobs.log_follow_mb_s", measure_logs}};
}

}  // namespace trainwarden::bench
