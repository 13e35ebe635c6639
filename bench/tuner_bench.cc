// The tuner: what a suggestion takes, and a study of ten thousand trials, or with a thousand workers at once.
#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <thread>

#include "bench.h"
#include "core/base/clock.h"
#include "temporary_folder.h"
#include "tune/search/gp/regret_bound.h"
#include "tune/search/samplers/all.h"
#include "tune/study/study.h"

namespace trainwarden::bench {
namespace {

constexpr std::size_t kDimensions = 5;
constexpr int kTrials = 10'000, kWorkers = 1000, kRounds = 15;

Result<tune::Space> space() {
  std::vector<tune::Hyperparameter> parameters;
  for (std::size_t i = 0; i < kDimensions; ++i) {
    parameters.push_back({.name = fmt::format("x{}", i), .min = -5, .max = 10});
  }
  return tune::Space::make(std::move(parameters));
}

double sphere(const tune::Point& point) {
  double sum = 0;
  for (const double x : point) sum += (x - 1) * (x - 1);
  return sum;
}

// A history of random trials.
Result<tune::History> history_of(std::size_t trials) {
  TRAINWARDEN_ASSIGN_OR_RETURN(tune::Space made, space());
  tune::History history{.space = std::move(made), .metrics = {{.name = "loss"}}, .trials = {}, .seed = 1};
  tune::Random random(7);
  for (std::size_t i = 0; i < trials; ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(tune::Point point, tune::random_point(history.space, random));
    history.trials.push_back({.number = static_cast<std::int64_t>(i),
                              .point = point,
                              .state = tune::TrialState::kComplete,
                              .values = {sphere(point)},
                              .series = {{}}});
  }
  return history;
}

// What each next suggestion takes while trials go on, from a history that is there.
Result<std::vector<Figure>> measure_suggestions(const std::string& name, std::string_view sampler, std::size_t trials,
                                                double most_ms, const std::string& limit) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto made, tune::make_sampler(sampler));
  TRAINWARDEN_ASSIGN_OR_RETURN(tune::History history, history_of(trials));
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto number = static_cast<std::int64_t>(history.trials.size());
    Result<tune::Suggestion> suggestion = Status(Code::kInternal, "none");
    const double ns = elapsed_ns([&] { suggestion = made->suggest(history, number); });
    TRAINWARDEN_RETURN_IF_ERROR(suggestion.status());
    rounds.push_back(ns / 1e6);
    history.trials.push_back({.number = number,
                              .point = suggestion->point,
                              .state = tune::TrialState::kComplete,
                              .values = {sphere(suggestion->point)},
                              .series = {{}},
                              .notes = suggestion->notes});
  }
  return std::vector<Figure>{{name, spread_of(rounds), "ms", at_most(most_ms), limit}};
}

// How much is left to gain, of a long study: it is asked for with the study's lock.
Result<std::vector<Figure>> measure_regret() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const tune::History history, history_of(1000));
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    std::optional<double> bound;
    rounds.push_back(elapsed_ns([&] { bound = tune::regret_bound(history); }) / 1e6);
    if (!bound) return Status(Code::kInternal, "expected a bound, found none");
  }
  return std::vector<Figure>{
      {"tuner.regret_bound_ms", spread_of(rounds), "ms", at_most(100), "the fit to 100 trials, and 512 candidates"}};
}

Result<tune::Study> create_study(const storage::Location& studies) {
  TRAINWARDEN_ASSIGN_OR_RETURN(tune::Space made, space());
  return tune::Study::create(studies, {.name = "bench", .space = std::move(made), .metrics = {{.name = "loss"}}},
                             system_clock());
}

Result<std::vector<Figure>> measure_long_study() {
  const TemporaryFolder folder;
  const storage::Location studies(folder.path());
  TRAINWARDEN_ASSIGN_OR_RETURN(tune::Study study, create_study(studies));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto sampler, tune::make_sampler("random"));
  std::vector<double> decisions;
  for (int i = 0; i < kTrials; ++i) {
    Status done;
    decisions.push_back(
        elapsed_ns([&] {
          const auto number = study.ask(*sampler, {});
          done = number.ok() ? study.finish(*number, {.metrics = {{"loss", 1.0 * i}}, .why = {}}) : number.status();
        }) /
        1e6);
    TRAINWARDEN_RETURN_IF_ERROR(done);
  }
  std::vector<double> opened;
  for (int round = 0; round < kRounds; ++round) {
    Result<tune::Study> again = Status(Code::kInternal, "none");
    opened.push_back(elapsed_ns([&] { again = tune::Study::open(studies, "bench", system_clock()); }) / 1e6);
    TRAINWARDEN_RETURN_IF_ERROR(again.status());
    if (again->state().count(tune::TrialState::kComplete) != kTrials)
      return Status(Code::kInternal, "trials were lost");
  }
  return std::vector<Figure>{
      {"tuner.open_10k_ms", spread_of(opened), "ms", at_most(500), "parsing JSON of 20,000 entries"},
      {"tuner.open_10k_ms.ask_and_finish", spread_of(decisions), "ms", {}, "two files that are created and synced"}};
}

// Each worker opens the study and asks for a trial of its own.
Result<std::vector<Figure>> measure_workers() {
  const TemporaryFolder folder;
  const storage::Location studies(folder.path());
  TRAINWARDEN_RETURN_IF_ERROR(create_study(studies).status());
  std::atomic<int> failed = 0;
  const double ns = elapsed_ns([&] {
    std::vector<std::jthread> workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.emplace_back([&] {
        auto study = tune::Study::open(studies, "bench", system_clock());
        const auto sampler = tune::make_sampler("tpe");
        if (!study.ok() || !sampler.ok() || !study->ask(**sampler, {}).ok()) ++failed;
      });
    }
  });
  TRAINWARDEN_ASSIGN_OR_RETURN(const tune::Study study, tune::Study::open(studies, "bench", system_clock()));
  if (failed > 0 || study.state().history().trials.size() != kWorkers) {
    return Status(Code::kInternal, fmt::format("expected {} trials, found {}; {} workers failed", kWorkers,
                                               study.state().history().trials.size(), failed.load()));
  }
  return std::vector<Figure>{
      {"tuner.thousand_ask_s", spread_of({ns / 1e9}), "s", at_most(60),
       "one decision after the other; who waits tries again at random, at last ten times a second"}};
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"tuner.tpe_suggest_ms",
           [] {
             return measure_suggestions("tuner.tpe_suggest_ms", "tpe", 1000, 1,
                                        "exponentials: candidates x trials x dimensions");
           }},
          {"tuner.gp_suggest_ms",
           [] {
             return measure_suggestions("tuner.gp_suggest_ms", "gp", 200, 50,
                                        "the fit, and variances at 2,048 candidates");
           }},
          {"tuner.regret_bound_ms", measure_regret},
          {"tuner.open_10k_ms", measure_long_study},
          {"tuner.thousand_ask_s", measure_workers}};
}

}  // namespace trainwarden::bench
