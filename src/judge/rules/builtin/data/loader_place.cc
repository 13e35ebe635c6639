#include "judge/rules/builtin/data/loader_place.h"

#include <cmath>
#include <string_view>

#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/signals.h"

namespace trainwarden::rules {
namespace {

constexpr double kLargestNumber = 1e15;

std::optional<TensorSpot> find(std::string_view signal, const std::string& worker, const StepWindow& window) {
  const auto spots = window.select(tensor_named(std::string(signal)));
  if (!spots.ok()) return std::nullopt;  // what rules see of signals is a help, no condition
  for (const TensorSpot& spot : *spots) {
    if (spot.worker == worker) return spot;
  }
  return std::nullopt;
}

std::optional<std::int64_t> number(std::string_view signal, const std::string& worker, const StepWindow& window) {
  const auto spot = find(signal, worker, window);
  if (!spot) return std::nullopt;
  const auto value = window.scalar(*spot);
  if (!value.ok() || !(std::abs(*value) < kLargestNumber)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::optional<LoaderPlace> loader_place(const std::string& worker, const StepWindow& window) {
  const auto epoch = number(signals::kEpoch, worker, window);
  const auto batch = number(signals::kBatchNumber, worker, window);
  if (!epoch || !batch) return std::nullopt;
  return LoaderPlace{*epoch, *batch};
}

std::optional<std::int64_t> batch_group(const std::string& worker, const StepWindow& window) {
  return number(signals::kBatchGroup, worker, window);
}

std::optional<SampleIndices> sample_indices(const std::string& worker, const StepWindow& window) {
  const auto spot = find(signals::kBatchIndices, worker, window);
  if (!spot) return std::nullopt;
  const auto value = window.value(*spot);
  if (!value.ok()) return std::nullopt;
  const auto statistics = compute_statistics(value->view, {.hash = true});
  if (!statistics.ok()) return std::nullopt;
  return SampleIndices{static_cast<std::int64_t>(statistics->count), statistics->hash};
}

}  // namespace trainwarden::rules
