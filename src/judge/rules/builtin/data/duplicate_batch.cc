// DuplicateBatch: the training sees the same batch again, or on several workers at once, though it should not.
//
// Source: the worker seeding fault of NumPy in data loaders, which many programs have had, and the forgotten
// DistributedSampler (spec of the diagnosis research, 27). A batch is the hash of all that went into the outermost
// model at a step. What is told from legitimate repetition, and how, is ours: batch_memory.h. Batches of fewer than
// kLeastElements numbers, or that hold one number only, are not judged: they are equal by chance.
// State: for each worker a BatchMemory, at most kMemory hashes and kJudged bits; one streak for all workers.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/batch_memory.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace duplicate_batch_rule {
namespace {

constexpr const char* kBatchInputs = "batch_inputs";
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::uint64_t kLeastElements = 32;
constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // odd, so that no bit is lost
constexpr double kStuckConfidence = 0.7;
constexpr double kWorkersConfidence = 0.9;

constexpr const char* kRepeatsAdvice =
    "Seed what the data set draws at random in each worker of the loader (worker_init_fn, or torch's generator), let "
    "an iterable data set give each worker its own part, and see that the batches differ.";
constexpr const char* kStuckAdvice =
    "Look at where the training loop takes its batches from: print their first numbers for a few steps and see that "
    "they change.";
constexpr const char* kWorkersAdvice =
    "Give each worker its own part of the data (DistributedSampler, or a seed with the rank in it), and see that their "
    "batches differ; workers that share one model by tensor or pipeline parallelism rightly get the same.";

// All that went into the outermost model of one worker at a step.
struct WorkerBatch {
  std::string tensor;  // the first
  std::string shown_worker;
  Batch batch;
  bool is_varied = false;  // not one number only
};

struct StepBatches {
  std::map<std::string, WorkerBatch> workers;
  JudgingGaps gaps;
};

StepBatches read_batches(const StepWindow& window) {
  TensorSelection selection;
  selection.collections = {kBatchInputs};
  StepBatches read;
  read.gaps = visit_tensors(selection, window, [&](const TensorSpot& spot) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* numbers, window.statistics(spot));
    std::uint64_t hash = numbers->hash;
    if (!numbers->has_hash) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics computed, compute_statistics(value.view, {.hash = true}));
      hash = computed.hash;
    }
    const auto [place, is_new] = read.workers.try_emplace(spot.worker);
    WorkerBatch& worker = place->second;
    if (is_new) {
      worker.tensor = spot.tensor;
      worker.shown_worker = spot.shown_worker;
    }
    worker.batch.hash = (worker.batch.hash ^ hash) * kMixer;
    worker.batch.elements += numbers->count;
    worker.is_varied = worker.is_varied || numbers->min < numbers->max;
    return Status();
  });
  return read;
}

class DuplicateBatch final : public Rule {
 public:
  DuplicateBatch(std::int64_t patience, std::int64_t stuck_steps) : patience_(patience), stuck_steps_(stuck_steps) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() != Mode::kTrain && window.mode() != Mode::kGlobal) {
      return Verdict::not_applicable(
          fmt::format("a {} step; only the batches of training are judged", name(window.mode())));
    }
    StepBatches read = read_batches(window);
    if (read.workers.empty()) return nothing_to_judge(read.gaps, "input of the model", window);
    std::erase_if(read.workers, [](const auto& entry) {
      return entry.second.batch.elements < kLeastElements || !entry.second.is_varied;
    });
    if (read.workers.empty()) {
      return Verdict::not_applicable(fmt::format(
          "the inputs of the model at {} have fewer than {} numbers, or one number only, and so may be equal "
          "by chance",
          describe_step(window), kLeastElements));
    }
    return judge(read.workers, window);
  }

  std::vector<Collection> needs() const override { return {need_hash(kBatchInputs), need_signals()}; }

 private:
  Verdict judge(std::map<std::string, WorkerBatch>& workers, const StepWindow& window) {
    std::vector<Evidence> repeated;
    std::vector<Evidence> stuck;
    for (auto& [worker, batch] : workers) {
      batch.batch.place = loader_place(worker, window);
      if (const auto indices = sample_indices(worker, window)) batch.batch.indices = indices->hash;
      BatchMemory& memory = memories_[worker];
      memory.add(batch.batch);
      if (memory.repeats_are_a_fault()) repeated.push_back(repeats_evidence(batch, memory, window));
      if (const std::int64_t steps = memory.stuck_steps(stuck_steps_); steps > 0) {
        stuck.push_back({batch.tensor, batch.shown_worker, "same_batch_steps", static_cast<double>(steps),
                         static_cast<double>(stuck_steps_), window.global_step()});
      }
    }
    if (!repeated.empty()) return verdict(std::move(repeated), kRepeatsAdvice, 1, window);
    const std::vector<Evidence> same = same_on_workers(workers, window);
    if (!same.empty()) return verdict(same, kWorkersAdvice, kWorkersConfidence, window);
    if (!stuck.empty()) return verdict(std::move(stuck), kStuckAdvice, kStuckConfidence, window);
    return Verdict::ok();
  }

  static Evidence repeats_evidence(const WorkerBatch& batch, const BatchMemory& memory, const StepWindow& window) {
    const double share = static_cast<double>(memory.repeats()) / static_cast<double>(memory.taken());
    return {batch.tensor, batch.shown_worker,       "repeated_batch_share",
            share,        BatchMemory::kLeastShare, window.global_step()};
  }

  // The first two workers that have had the same batch for patience_ steps in a row.
  std::vector<Evidence> same_on_workers(const std::map<std::string, WorkerBatch>& workers, const StepWindow& window) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<const WorkerBatch*>> by_batch;
    std::set<std::int64_t> groups;  // of those that share a model, one stands for all
    for (const auto& [worker, batch] : workers) {
      const auto group = batch_group(worker, window);
      if (group && !groups.insert(*group).second) continue;
      by_batch[{batch.batch.hash, batch.batch.elements}].push_back(&batch);
    }
    const auto largest = std::max_element(by_batch.begin(), by_batch.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
    const std::vector<const WorkerBatch*>& same = largest->second;
    same_on_workers_ = same.size() > 1 ? same_on_workers_ + 1 : 0;
    std::vector<Evidence> evidence;
    if (same_on_workers_ < patience_) return evidence;
    for (const WorkerBatch* batch : same) {
      evidence.push_back({batch->tensor, batch->shown_worker, "workers_with_same_batch",
                          static_cast<double>(same.size()), 1, window.global_step()});
    }
    return evidence;
  }

  Verdict verdict(std::vector<Evidence> evidence, const char* advice, double confidence,
                  const StepWindow& window) const {
    const Evidence& worst = evidence.front();
    const std::string where = fmt::format("\"{}\" at {}", worst.tensor, describe_step(window));
    std::string text;
    if (worst.quantity == "repeated_batch_share") {
      text = fmt::format(
          "The batch {} has come again: {:.3g} % of the last batches from the loader were the same as one "
          "shortly before, although the loader counts them as others.",
          where, 100 * worst.value);
    } else if (worst.quantity == "same_batch_steps") {
      text = fmt::format("The batch {} has been the same for {:g} steps, while before it changed.", where, worst.value);
    } else {
      text =
          fmt::format("{:g} workers train on the same batch {}, for {} steps.", worst.value, where, same_on_workers_);
    }
    Verdict verdict = fired(std::move(text), advice, std::move(evidence));
    verdict.confidence = confidence;
    return verdict;
  }

  const std::int64_t patience_;
  const std::int64_t stuck_steps_;
  std::map<std::string, BatchMemory> memories_;  // by worker
  std::int64_t same_on_workers_ = 0;             // steps in a row
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  const std::int64_t stuck_steps = read.integer("stuck_steps", 2, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new DuplicateBatch(patience, stuck_steps));
}

constexpr const char* kDetails =
    R"(Compares hashes of what goes into the outermost model at the steps of training. Fires
when

- at least a quarter of the last 32 batches that were taken from the data loader, and at least 4, equal one of the 16
  before them in the same epoch, although the loader counts them as others and, where the sampler's indices are known,
  says that they hold other samples; and new batches still come in between (evidence `repeated_batch_share`). Loader
  workers with the same random seed do that, and iterable data sets that every worker reads whole;
- two workers have the same batch for `patience` steps in a row (evidence `workers_with_same_batch`), and do not share
  one model by tensor parallelism, as the meshes of PyTorch's distributed tensors show;
- after at least 8 different batches one stays for `stuck_steps` steps, and ten times as long as any before it (evidence
  `same_batch_steps`, confidence 0.7).

It stays silent where repetition is meant: the whole data set as one
batch, epochs that are not shuffled, short data sets that are gone through again and again, several steps on one
batch. Batches of fewer than 32 numbers may be equal by chance and are not judged. Needs the hash of `batch_inputs`
and, for the first, the signals of the data loader. Workers that share one model in a way that is not seen (pipeline
parallelism, programs that do not use PyTorch's meshes) rightly get the same batch: leave the rule out there.)";

}  // namespace
}  // namespace duplicate_batch_rule

RuleKind duplicate_batch() {
  RuleDescription description;
  description.name = "DuplicateBatch";
  description.summary =
      "Fires when the data loader gives the same batch again, when workers train on the same batch, or when the batch "
      "no longer changes.";
  description.parameters = {{"patience", "5", "steps in a row at which workers have the same batch"},
                            {"stuck_steps", "50", "steps for which a batch may stay after others have come"}};
  description.topic = "data";
  description.details = duplicate_batch_rule::kDetails;
  description.source = "the NumPy seeding fault of PyTorch's data loaders (2021); the tests are ours";
  description.by_default = true;
  description.is_symptom = true;
  description.in_process = true;
  return {std::move(description), duplicate_batch_rule::create};
}

}  // namespace trainwarden::rules
