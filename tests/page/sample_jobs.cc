// sample_jobs: writes jobs for the tests of the page, as if they had been submitted and had run.
//
// usage: sample_jobs JOBS COUNT [RUNS]
//
// Job i is called "sweep-i"; its state, hyper-parameters and times follow from i. sweep-0 has ranks, rules, checkpoints
// and texts that try to be markup. RUNS is the folder that their runs would lie in.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "store/storage/location.h"
#include "store/storage/memory_storage.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_rules.h"

namespace {

using namespace trainwarden;
namespace fs = std::filesystem;
using jobs::JobPhase;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr const char* kHostile = "<img src=x onerror=alert(1)> \u202edesrever \x1b[31m";

void check(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "sample_jobs: {}\n", status.message());
  std::exit(1);
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

// Their checkpoints lie in the folder of the job: what lies elsewhere is shown of sealed jobs alone.
std::string spec_of(int i, const fs::path& job) {
  return fmt::format(
      "name = \"sweep-{}\"\nprogram = \"./train\"\n[hyperparameters]\nlr = {}\nbatch_size = {}\noptimizer = \"{}\"\n"
      "epochs = 3\n[resources]\ntasks_per_node = 2\n[checkpoints]\npath = \"{}\"\n",
      i, 0.001 * (1 + i % 50), 16 << (i % 4), i % 3 == 0 ? "adam" : "sgd", (job / "kept").string());
}

std::vector<JobPhase> way_of(int i) {
  using P = JobPhase;
  switch (i % 10) {
    case 1: return {};
    case 2:
      if (i == 2) return {P::kStarting, P::kTraining};  // without an agent: who looks finds that it is lost
      return {P::kStarting, P::kTraining, P::kUploading, P::kCompleted};
    case 3: return {P::kStarting, P::kTraining, P::kFailed};
    case 4: return {P::kStarting, P::kTraining, P::kStopping, P::kStopped};
    case 5: return {P::kStarting, P::kTraining, P::kStopping, P::kMaxRuntimeExceeded};
    case 6:
      return {P::kStarting, P::kTraining, P::kInterrupted, P::kRestarting,
              P::kStarting, P::kTraining, P::kUploading,   P::kCompleted};
    default: return {P::kStarting, P::kTraining, P::kUploading, P::kCompleted};
  }
}

void write_details(const fs::path& job) {
  std::string output = "\x1b[1mepoch 1\x1b[0m\n 10%\r 50%\r100%\n";
  for (int line = 0; line < 400; ++line) output += fmt::format("step {} loss {:.4f}\n", line, 2.0 / (line + 1));
  write(job / "output.log", output + kHostile + "\n");
  write(job / "agent.log", "started\n");
  for (int rank = 0; rank < 12; ++rank) write(job / fmt::format("ranks/{}.log", rank), fmt::format("rank {}\n", rank));
  jobs::JobRule rule;
  rule.id = "LossSpike";
  rule.status = "IssuesFound";
  rule.details = kHostile;
  rule.alerts = 1;
  rule.step = 3;
  check(jobs::JobRules(storage::Location(job)).record(rule, "LossSpike fired at step 3"));
  write(job / "kept/last.pt", "weights");
  write(job / "kept/epoch-1/optimizer.pt", std::string(5000, 'o'));
}

void write_out(const storage::MemoryStorage& from, const std::string& folder, const fs::path& to) {
  const auto entries = from.entries(folder);
  check(entries.status());
  for (const storage::Entry& entry : *entries) {
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    if (entry.info.kind == storage::FileInfo::Kind::kFolder) {
      write_out(from, path, to);
    } else {
      write(to / path, from.content(path));
    }
  }
}

// In memory first: a record on a disk waits for it after each of its files.
void submit(const fs::path& folder, const fs::path& runs, int i, int count) {
  // The newest is a minute old, the others an hour apart.
  FakeClock clock(system_clock().unix_ns() - (60 + 3600LL * (count - 1 - i)) * kSecondNs);
  jobs::JobOrder order;
  order.name = fmt::format("sweep-{}", i);
  order.submitted_unix_ns = clock.unix_ns();
  order.host = "another-machine";  // whose queue nobody here keeps
  order.program = {"./train", "--lr", fmt::format("{}", 0.001 * (1 + i % 50))};
  order.folder = folder.parent_path();
  order.run = runs / order.name;
  order.max_run_seconds = 86400;
  order.spec = spec_of(i, folder / order.name);
  order.spec_file = folder.parent_path() / "job.toml";
  const std::shared_ptr<storage::MemoryStorage> memory = storage::create_memory_storage();
  auto job = jobs::JobRecord::create(storage::Location(memory, folder.string()), order);
  check(job.status());
  for (const JobPhase next : way_of(i)) {
    clock.advance_ns((next == JobPhase::kUploading ? 40 : 3) * kSecondNs);
    const std::string message = next == JobPhase::kFailed ? fmt::format("AlgorithmError: ExitCode 1 {}", kHostile) : "";
    check(job->advance(*job->current(), next, "test", message, clock).status());
  }
  write_out(*memory, "", folder);
  if (i == 0) write_details(folder / order.name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: sample_jobs JOBS COUNT [RUNS]\n");
    return 2;
  }
  const fs::path folder = fs::absolute(argv[1]);
  const int count = std::atoi(argv[2]);
  const fs::path runs = argc > 3 ? fs::absolute(argv[3]) : folder.parent_path() / "runs";
  for (int i = 0; i < count; ++i) submit(folder, runs, i, count);
  return 0;
}
