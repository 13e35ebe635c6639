// ReplicaDivergence: the copies of the weights that data-parallel workers hold are no longer the same.
//
// Source: ours, after reports of large trainings (BLOOM's layer norms were out of sync for days): workers that begin
// with the same weights and apply the same averaged gradients hold the same bits, so one hash of each weight is enough.
// Fires when a weight that was the same on all workers differs at two judged steps in a row. Where no weight is the
// same on any two workers, they may average them now and then (local SGD): that is waited for. Weights that were never
// seen to be the same may be meant to differ (shards, independent trainings): a note. Buffers, as the running
// statistics of a batch norm, differ on purpose and are not judged.
// A program that compares its workers itself says so with a signal, which is believed at once.
//
// Where one worker evaluates and the others do not, their steps are counted differently: a copy that another worker had
// not long ago is no other one.
//
// State: for each weight, its last hashes, whether it was the same once, and for how many judged steps it has differed;
// for how many judged steps no two workers had the same, and how long that lasted before, when they came together
// again.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/step_workers.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/builtin/training/worker_models.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace replica_divergence_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::int64_t kFewestTimes = 2;     // judged steps in a row that a weight must differ
constexpr std::int64_t kFewestTimesAll = 8;  // the same where none is the same on any two workers
constexpr std::size_t kRemembered = 8;       // comparisons
constexpr const char* kAdvice =
    "See that every worker calls the wrapped model (not model.module), that none leaves out a step or loads other "
    "weights, and broadcast the weights of worker 0 once: if they part again, compare the gradients after averaging.";

// One weight on one worker.
struct Copy {
  std::string shown_worker;
  Shape shape;
  std::uint64_t hash = 0;
};

class ReplicaDivergence final : public Rule {
 public:
  explicit ReplicaDivergence(std::int64_t interval) : interval_(interval) {}

  Verdict evaluate(const StepWindow& window) override {
    const std::size_t workers = workers_of_step(window).size();
    if (workers < 2) return Verdict::not_applicable("a run of one worker has no replicas");
    models_.take(window);
    if (models_.differ()) return Verdict::not_applicable("the workers have different models");
    const std::vector<Evidence> told = differences_told(window);
    if (!told.empty()) return verdict_of(told, window);
    std::map<std::string, std::vector<Copy>> weights;
    const JudgingGaps gaps = read_copies(window, weights);
    std::size_t judged = 0, same = 0, scattered = 0;
    std::vector<std::string> diverged;
    std::vector<std::string> never_same;
    for (const auto& [name, copies] : weights) {
      if (copies.size() != workers || !have_one_shape(copies)) continue;
      ++judged;
      scattered += different_copies(copies) == workers ? 1 : 0;
      State& state = states_[name];
      const bool lags = state.remember(copies);
      if (is_same(copies)) {
        state.was_same = true;
        state.differing = 0;
        ++same;
      } else if (lags) {
        state.differing = 0;
      } else if (++state.differing >= kFewestTimes) {
        (state.was_same ? diverged : never_same).push_back(name);
      }
    }
    if (judged == 0) return nothing_to_judge(gaps, "hash of a weight that all workers have in one shape", window);
    note_apart(same == judged, scattered == judged);
    if (may_be_averaged() && diverged.size() == judged) return Verdict::ok();
    if (!diverged.empty()) return verdict(diverged, judged, weights, true, window);
    if (!never_same.empty()) return verdict(never_same, judged, weights, false, window);
    return Verdict::ok();
  }

  std::vector<Collection> needs() const override {
    return {need_hash("weights", interval_), need_hash("biases", interval_), need_signals()};
  }

 private:
  struct State {
    bool was_same = false;
    std::int64_t differing = 0;
    std::deque<std::vector<std::uint64_t>> before;  // hashes by worker, of the comparisons before

    // Is one worker's copy what another one had not long ago? Then their steps are counted differently, as where one of
    // them evaluates in between.
    bool remember(const std::vector<Copy>& copies) {
      bool lags = false;
      for (std::size_t worker = 0; worker < copies.size(); ++worker) {
        const auto equal = std::count_if(copies.begin(), copies.end(),
                                         [&](const Copy& copy) { return copy.hash == copies[worker].hash; });
        if (equal > 1) continue;
        for (const auto& hashes : before) {
          for (std::size_t other = 0; other < hashes.size(); ++other)
            lags = lags || (other != worker && hashes[other] == copies[worker].hash);
        }
      }
      std::vector<std::uint64_t>& now = before.emplace_back();
      for (const Copy& copy : copies) now.push_back(copy.hash);
      if (before.size() > kRemembered) before.pop_front();
      return lags;
    }
  };

  // What the program has found itself.
  static std::vector<Evidence> differences_told(const StepWindow& window) {
    std::vector<Evidence> evidence;
    for (const auto& [spot, differs] : scalar_signals(window, signals::kReplicaDiffers).signals) {
      if (differs == 0 || evidence.size() == Verdict::kMaxEvidence) continue;
      evidence.push_back({spot.tensor, spot.shown_worker, "differs", differs, 1, window.global_step()});
    }
    return evidence;
  }

  static Verdict verdict_of(const std::vector<Evidence>& told, const StepWindow& window) {
    Verdict verdict = fired(
        fmt::format("The program has compared its workers at {}: the weights of {} are no longer those of the first.",
                    describe_step(window), told.front().worker),
        kAdvice, told, Severity::kError);
    verdict.confidence = 0.99;
    return verdict;
  }

  void note_apart(bool are_same, bool are_scattered) {
    if (are_same) longest_apart_ = std::max(longest_apart_, apart_);
    apart_ = are_scattered ? apart_ + 1 : 0;
  }

  // Is no weight the same on any two workers, and for no longer than workers leave them so that average now and then?
  bool may_be_averaged() const { return apart_ > 0 && (apart_ < kFewestTimesAll || apart_ <= 2 * longest_apart_); }

  static JudgingGaps read_copies(const StepWindow& window, std::map<std::string, std::vector<Copy>>& weights) {
    return visit_tensors({.collections = {"weights", "biases"}}, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* statistics, window.statistics(spot));
      if (!statistics->has_hash) {
        return Status(Code::kOutOfRange, fmt::format("the hash of \"{}\" was not kept", spot.tensor));
      }
      TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, window.shape(spot));
      weights[spot.tensor].push_back({spot.shown_worker, shape, statistics->hash});
      return {};
    });
  }

  static bool have_one_shape(const std::vector<Copy>& copies) {
    return std::all_of(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.shape == copies[0].shape; });
  }

  static bool is_same(const std::vector<Copy>& copies) {
    return std::all_of(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.hash == copies[0].hash; });
  }

  static std::size_t different_copies(const std::vector<Copy>& copies) {
    std::set<std::uint64_t> hashes;
    for (const Copy& copy : copies) hashes.insert(copy.hash);
    return hashes.size();
  }

  // How many different copies there are, and on which worker the first one lies that is not what most have.
  static std::pair<std::size_t, std::string> odd_one(const std::vector<Copy>& copies) {
    std::map<std::uint64_t, std::size_t> counts;
    for (const Copy& copy : copies) ++counts[copy.hash];
    const auto usual = std::max_element(counts.begin(), counts.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto odd =
        std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.hash != usual->first; });
    return {counts.size(), odd->shown_worker};
  }

  Verdict verdict(const std::vector<std::string>& names, std::size_t judged,
                  const std::map<std::string, std::vector<Copy>>& weights, bool were_same,
                  const StepWindow& window) const {
    std::vector<Evidence> evidence;
    for (const std::string& name : names) {
      const auto [copies, worker] = odd_one(weights.at(name));
      evidence.push_back({name, worker, "different_copies", static_cast<double>(copies), 1, window.global_step()});
      if (evidence.size() == Verdict::kMaxEvidence) break;
    }
    std::string message = fmt::format(
        "{} of {} weights are not the same on all workers at {}, among them \"{}\" on {}{}.", names.size(), judged,
        describe_step(window), names.front(), evidence.front().worker,
        were_same ? ", which were the same before"
                  : "; they never were when this was judged, which is right for shards and independent trainings only");
    Verdict verdict =
        fired(std::move(message), kAdvice, std::move(evidence), were_same ? Severity::kError : Severity::kInfo);
    verdict.confidence = were_same ? 0.95 : 0.4;
    return verdict;
  }

  const std::int64_t interval_;
  WorkerModels models_;
  std::map<std::string, State> states_;  // by weight
  std::int64_t apart_ = 0;               // judged steps in a row at which no two workers have the same
  std::int64_t longest_apart_ = 0;       // the same, where all were the same after it
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t interval = read.integer("interval", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ReplicaDivergence(interval));
}

}  // namespace
}  // namespace replica_divergence_rule

RuleKind replica_divergence() {
  return {
      {.name = "ReplicaDivergence",
       .summary = "Fires when weights that data-parallel workers had in common are no longer the same.",
       .parameters = {{"interval", "10", "steps between two comparisons: how often the hashes are captured"}},
       .topic = "workers",
       .details =
           "Compares a 64-bit hash of each weight and bias between all workers. Fires when one that was the same "
           "on all of them differs in two comparisons in a row, or in eight where no weight is the same on any two "
           "workers: "
           "they may average them now and then (local SGD). Weights that were never seen to be the same are a "
           "note: shards "
           "and independent trainings differ on purpose.\n\n"
           "A program that compares its workers itself, and says so with `trainwarden/replica_differs`, is believed "
           "at once.\n\n"
           "Needs the hashes of the collections weights and biases. Weights of different shapes on different "
           "workers (shards), buffers, and workers with different models are not judged. Evidence: "
           "`different_copies` of each "
           "weight, and a worker that has not what most have.",
       .source = "ours, after reports of large trainings",
       .by_default = true,
       .in_process = false},
      replica_divergence_rule::create};
}

}  // namespace trainwarden::rules
