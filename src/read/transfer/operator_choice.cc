#include "read/transfer/operator_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::transfer {
namespace {

bool is_chosen(const OperatorChoice& choice, std::int64_t step) {
  return choice.steps.empty() || std::any_of(choice.steps.begin(), choice.steps.end(),
                                             [step](const StepRange& range) { return range.holds(step); });
}

}  // namespace

Result<std::vector<WorkerCalls>> find_operator_calls(const Trial& trial, const OperatorChoice& choice) {
  const std::vector<std::string> known = trial.workers();
  for (const std::string& worker : choice.workers) {
    if (std::find(known.begin(), known.end(), worker) != known.end()) continue;
    return Status(Code::kNotFound,
                  fmt::format("the run has no worker {}{}", printable(worker), did_you_mean(worker, known)));
  }
  std::vector<WorkerCalls> found;
  bool any = false;
  for (const std::string& worker : choice.workers.empty() ? known : choice.workers) {
    WorkerCalls calls{worker, trial.operator_steps(worker)};
    any = any || !calls.steps.empty();
    std::erase_if(calls.steps, [&](std::int64_t step) { return !is_chosen(choice, step); });
    if (!calls.steps.empty()) found.push_back(std::move(calls));
  }
  if (!found.empty()) return found;
  return Status(Code::kNotFound, any ? "no operator calls were recorded in the steps that were chosen"
                                     : "the run has no operator calls: they are recorded in an operator window only");
}

}  // namespace trainwarden::transfer
