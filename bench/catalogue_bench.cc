// How long `trainwarden job ls` takes for 10,000 jobs that have ended, `trainwarden ls` for 5,000 runs, and
// `trainwarden experiment` for 5,000 components: the whole program, from its start to its end.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench.h"
#include "read/trial/run_testing.h"
#include "temporary_folder.h"
#include "typed_program.h"
#include "work/experiments/experiment_store.h"
#include "work/jobs/job_record.h"

namespace trainwarden::bench {
namespace {

constexpr int kJobs = 10'000;
constexpr int kRuns = 5'000;
constexpr int kComponents = 5'000;
constexpr int kRounds = 15;

Status make_job(const std::filesystem::path& jobs, int number) {
  jobs::JobOrder order;
  order.name = fmt::format("job-{}", number);
  order.submitted_unix_ns = 1'700'000'000'000'000'000 + number;
  order.program = {"true"};
  order.spec = fmt::format("program = 'true'\n[hyperparameters]\nlr = 0.{}\nepochs = 3\n", number);
  const std::filesystem::path folder = jobs / order.name;
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobRecord job, jobs::JobRecord::create(jobs, order));
  // The files as advance() writes them, without waiting for the disk.
  std::int64_t seq = 2;
  for (const jobs::JobPhase phase :
       {jobs::JobPhase::kStarting, jobs::JobPhase::kTraining, jobs::JobPhase::kCompleted}) {
    std::ofstream(folder / fmt::format("state/{:06}.json", seq))
        << jobs::encode_transition({seq, order.submitted_unix_ns + seq, phase, "agent", "it goes on"});
    ++seq;
  }
  return Status();
}

Result<double> program_ms(const std::vector<std::string>& words) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const process::ExitRecord record, run_typed(words));
  return ms_of(record);
}

// A first time, which reads the folder, and the spread of the times after it.
Result<std::vector<Figure>> measure_program(const std::string& name, const std::vector<std::string>& words,
                                            double most_ms, const std::string& limit) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const double first, program_ms(words));
  std::this_thread::sleep_for(std::chrono::seconds(3));  // what has changed just now is read again in any case
  TRAINWARDEN_RETURN_IF_ERROR(program_ms(words).status());
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double ms, program_ms(words));
    rounds.push_back(ms);
  }
  return std::vector<Figure>{{name, spread_of(rounds), "ms", at_most(most_ms), limit},
                             {name + ".first", spread_of({first}), "ms", {}, "reading all files"}};
}

Result<std::vector<Figure>> measure_jobs() {
  const TemporaryFolder folder;
  for (int i = 0; i < kJobs; ++i) TRAINWARDEN_RETURN_IF_ERROR(make_job(folder.path() / "jobs", i));
  return measure_program("jobs.list_10k_ms", {"job", "ls", "--jobs", (folder.path() / "jobs").string()}, 200,
                         "a look at each folder, and writing the lines");
}

// One run of 20 steps and 5 metrics of 200 values, and copies of it.
Status make_runs(const std::filesystem::path& runs) {
  TestRun run;
  run.add_steps(0, 19);
  for (int i = 0; i < 5; ++i) {
    const Metric metric{.name = fmt::format("m{}", i), .source = MetricSource::kRank, .instance = "0"};
    run.sample(metric, std::vector<double>(200, 0.5 * i), 1'000'000);
  }
  run.end();
  run.save_to(runs / "run-0");
  for (int i = 1; i < kRuns; ++i) {
    std::error_code error;
    std::filesystem::copy(runs / "run-0", runs / fmt::format("run-{}", i), std::filesystem::copy_options::recursive,
                          error);
    if (error) return Status(Code::kInternal, "cannot copy a run: " + error.message());
  }
  return Status();
}

Result<std::vector<Figure>> measure_runs() {
  const TemporaryFolder folder;
  const std::filesystem::path runs = folder.path() / "runs";
  TRAINWARDEN_RETURN_IF_ERROR(make_runs(runs));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto figures, measure_program("runs.list_5k_ms", {"ls", "--runs", runs.string()}, 200,
                                                             "a look at the folders of each, and writing the lines"));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const auto metrics, measure_program("runs.metrics_5k_ms",
                                          {"ls", "--columns", "m1,m2.max", "--sort", "m3.min", "--runs", runs.string()},
                                          400, "the same, and the summaries of 25,000 metrics"));
  figures.insert(figures.end(), metrics.begin(), metrics.end());
  return figures;
}

// 20 parameters and 5 metrics each.
Status make_component(experiments::ExperimentStore& store, int number) {
  experiments::ComponentRecord record;
  record.unix_ns = 1'700'000'000'000'000'000 + number;
  record.status = "Completed";
  record.trials = {"all"};
  for (int i = 0; i < 20; ++i) record.parameters[fmt::format("p{}", i)] = number * 0.001 * i;
  for (int i = 0; i < 5; ++i) record.metrics[fmt::format("m{}", i)].add(number * 0.5, record.unix_ns);
  return store.create_component(fmt::format("c-{}", number), record);
}

Result<std::vector<Figure>> measure_experiments() {
  const TemporaryFolder folder;
  const std::string experiments = (folder.path() / "experiments").string();
  experiments::ExperimentStore store{storage::Location(experiments)};
  TRAINWARDEN_RETURN_IF_ERROR(store.create_experiment({"digits", "", "", 1, {}}));
  TRAINWARDEN_RETURN_IF_ERROR(store.ensure_trial({"all", "digits", "", 1}));
  for (int i = 0; i < kComponents; ++i) TRAINWARDEN_RETURN_IF_ERROR(make_component(store, i));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto figures,
                               measure_program("experiments.search_5k_ms",
                                               {"experiment", "search", "--filter", "Parameters.p3 > 10", "--filter",
                                                "Metrics.m2.Min < 2000", "--most", "10", "--experiments", experiments},
                                               500, "a look at each folder"));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const auto frame, measure_program("experiments.frame_5k_ms",
                                        {"experiment", "analytics", "digits", "--csv", "--experiments", experiments},
                                        1000, "250,000 values as text"));
  figures.push_back(frame.front());
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"jobs.list_10k_ms", measure_jobs}, {"runs", measure_runs}, {"experiments", measure_experiments}};
}

}  // namespace trainwarden::bench
