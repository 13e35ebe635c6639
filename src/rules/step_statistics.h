// What the rules that judge numbers have in common: which tensors they look at, and their statistics at one step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/rule.h"
#include "trainwarden/statistics.h"

namespace trainwarden::rules {

// The union of the tensors of the collections and of those that any pattern is found in.
struct TensorSelection {
  std::vector<std::string> collections;
  std::vector<std::string> patterns;
  bool all = false;  // every tensor
};

struct TensorStatistics {
  std::string tensor;
  std::string worker;  // empty in a run of one worker
  Statistics statistics;
};

struct StepStatistics {
  std::vector<TensorStatistics> tensors;  // by name, then by worker
  Status first_damage;                    // why some of the selected tensors could not be read; ok when all could
};

// Of the selected tensors that the step holds, on every worker: saved statistics, else those of the saved value or
// scalar. Tensors of which only the shape was kept, and strings, are left out. Collections that the run does not have
// are empty.
StepStatistics read_statistics(const TensorSelection& selection, const StepWindow& window);

// The verdict when there is nothing to judge: not applicable, or insufficient data when it is there but damaged.
// `what`: "gradient tensor", "loss".
std::optional<Verdict> nothing_to_judge(const StepStatistics& read, std::string_view what, const StepWindow& window);

std::string describe_step(const StepWindow& window);  // "step 120 (train 100)"

// Sorts nothing: the worst must come first. Drops what is past Verdict::kMaxEvidence.
Verdict fired(std::string message, std::string advice, std::vector<Evidence> evidence,
              Severity severity = Severity::kWarning);

}  // namespace trainwarden::rules
