// What the rules that judge numbers have in common: which tensors they look at, and their numbers at one step.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/reduction.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// Why some of the selected tensors could not be judged; ok when there are none such.
struct JudgingGaps {
  Status first_damage;
  Status first_unfit;  // kept in a form that does not have what is asked
};

// Reads one tensor. kOutOfRange or kInvalidArgument: it was kept in a form that does not have what is asked.
using TensorVisitor = std::function<Status(const TensorSpot&)>;

// Visits the selected tensors that the step holds, on every worker: by name, then by worker. Collections that the run
// does not have are empty.
JudgingGaps visit_tensors(const TensorSelection& selection, const StepWindow& window, const TensorVisitor& visit);

struct TensorReduction {
  TensorSpot spot;
  double value = 0;
};

struct StepReductions {
  std::vector<TensorReduction> tensors;  // by name, then by worker
  JudgingGaps gaps;
};

// The reduction of the selected tensors: a single one that was saved, else from statistics, value or scalar. Tensors of
// which other single reductions or only the shape was kept, and strings, are left out.
StepReductions read_reductions(const TensorSelection& selection, Reduction reduction, bool abs,
                               const StepWindow& window);

// The verdict when there is nothing to judge: not applicable, or insufficient data when it is there but damaged.
// `what`: "gradient tensor", "loss".
Verdict nothing_to_judge(const JudgingGaps& gaps, std::string_view what, const StepWindow& window);

std::string describe_step(const StepWindow& window);  // "step 120 (train 100)"

// Sorts nothing: the worst must come first. Drops what is past Verdict::kMaxEvidence.
Verdict fired(std::string message, std::string advice, std::vector<Evidence> evidence,
              Severity severity = Severity::kWarning);

}  // namespace trainwarden::rules
