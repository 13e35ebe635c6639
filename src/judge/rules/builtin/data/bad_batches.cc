#include "judge/rules/builtin/data/bad_batches.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "judge/rules/signals.h"

namespace trainwarden::rules {
namespace {

// A step of several passes has several.
bool is_of_bad_samples(std::string_view tensor) {
  return tensor.substr(0, tensor.rfind('#')) == signals::kBadSamples;
}

}  // namespace

std::vector<diagnosis::BadBatch> not_finite_batches(const std::string& worker, const StepWindow& window) {
  static const TensorSelection kSignals{.collections = {std::string(signals::kCollection)}};
  const auto spots = window.select(kSignals);
  if (!spots.ok()) return {};  // what rules see of signals is a help, no condition
  std::vector<diagnosis::BadBatch> batches;
  for (const TensorSpot& spot : *spots) {
    if (spot.worker != worker || !is_of_bad_samples(spot.tensor)) continue;
    const auto value = window.value(spot);
    if (!value.ok() || value->view.dtype != DType::kString || value->view.shape.element_count() != 1) continue;
    auto read = diagnosis::read_bad_batches(*static_cast<const std::string_view*>(value->view.data));
    if (read.ok())
      batches.insert(batches.end(), std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  }
  std::erase_if(batches, [](const diagnosis::BadBatch& batch) { return batch.kind != "not_finite"; });
  return batches;
}

}  // namespace trainwarden::rules
