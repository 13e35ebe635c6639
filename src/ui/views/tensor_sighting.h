// Where a tensor lies at a step, and who has it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/trial/tensor_lookup.h"
#include "trainwarden/status.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

struct TensorSighting {
  trial::Sighting sighting;
  std::string worker;
};

// `worker` empty: the first that has it. The errors of Trial::statistics.
Result<TensorSighting> see_tensor(Trial& trial, std::string_view tensor, std::int64_t step, std::string_view worker);

// The steps that hold a tensor, each list rising. Incomplete ones too: what is there can be looked at.
struct StepsOfForm {
  journal::RecordForm form = journal::RecordForm::kValue;
  std::vector<std::int64_t> steps;
};
struct StepsOfMode {
  Mode mode = Mode::kGlobal;
  std::vector<std::int64_t> steps;  // global
};
struct TensorPresence {
  std::vector<std::int64_t> steps;  // global
  std::vector<StepsOfForm> forms;   // those with a step
  std::vector<StepsOfMode> modes;
  std::vector<std::string> workers;  // that have it at any step

  std::span<const std::int64_t> steps_in(journal::RecordForm form) const;
};
// Grows with the run: what came since the last question is added. Lives as long as `use`, until the next question.
// kNotFound when the run has no such tensor.
Result<const TensorPresence*> tensor_presence(OpenRun::Use& use, std::string_view tensor);

// "value", "statistics", "scalar", "shape", "reductions".
std::string_view name(journal::RecordForm form);

}  // namespace trainwarden::views
