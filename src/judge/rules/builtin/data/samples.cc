#include "judge/rules/builtin/data/samples.h"

#include <algorithm>

#include "judge/rules/builtin/data/loader_place.h"

namespace trainwarden::rules {

std::optional<std::int64_t> sample_count(const std::string& worker, const StepWindow& window) {
  if (const auto indices = sample_indices(worker, window)) return indices->count;
  TensorSelection inputs;
  inputs.collections = {"batch_inputs"};
  const auto spots = window.select(inputs);
  if (!spots.ok()) return std::nullopt;
  std::optional<std::int64_t> samples;
  for (const TensorSpot& spot : *spots) {
    const auto shape = window.shape(spot);
    if (spot.worker != worker || !shape.ok() || shape->rank() == 0) continue;
    samples = std::max(samples.value_or(0), (*shape)[0]);
  }
  return samples;
}

Collection need_batch_shapes(std::int64_t save_interval) {
  return {.name = "batch_inputs",
          .save = SavePolicy::every(save_interval),
          .keep = KeepForm{.values = false, .shape = true}};
}

}  // namespace trainwarden::rules
