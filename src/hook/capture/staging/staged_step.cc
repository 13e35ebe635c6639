#include "hook/capture/staging/staged_step.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hook/capture/staging/packed_strings.h"
#include "trainwarden/statistics.h"

namespace trainwarden::capture {
namespace {

journal::KeptTensor kept_tensor(const StagedTensor& tensor, std::vector<std::vector<std::string>>& strings) {
  journal::KeptTensor kept;
  kept.id = tensor.id;
  kept.dtype = tensor.dtype;
  kept.shape = tensor.shape;
  if (tensor.dtype != DType::kString) {
    kept.data = tensor.data;
    return kept;
  }
  const auto count = static_cast<std::size_t>(tensor.shape.element_count());
  kept.strings = strings.emplace_back(unpack_strings(tensor.data, count));
  return kept;
}

}  // namespace

void add_statistics(StagedStep& step, std::uint32_t id, const TensorView& view, FormBits form) {
  StatisticsOptions options;
  options.histogram = (form & kHistogramBit) != 0;
  options.hash = (form & kHashBit) != 0;
  Result<Statistics> statistics = compute_statistics(view, options);
  if (!statistics.ok()) {
    step.losses.add(LossCause::kUnsupported, 1, 0, [&] { return statistics.status().to_string(); });
    return;
  }
  step.statistics.push_back({.id = id, .dtype = view.dtype, .shape = view.shape, .statistics = *std::move(statistics)});
}

void StagedRows::append(StagedRows later) {
  const auto add = [](auto& rows, auto& more) {
    rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  add(new_names, later.new_names);
  add(tensors, later.tensors);
  add(statistics, later.statistics);
  add(scalars, later.scalars);
  add(reductions, later.reductions);
}

std::uint64_t StagedStep::item_count() const {
  const auto awaited =
      std::count_if(device_items.begin(), device_items.end(), [](const DeviceItem& item) { return item.form != 0; });
  return tensors.size() + statistics.size() + scalars.size() + reductions.size() + static_cast<std::uint64_t>(awaited);
}

std::uint64_t StagedStep::tensor_bytes() const {
  std::uint64_t bytes = 0;
  for (const StagedTensor& tensor : tensors) bytes += tensor.data.size();
  for (const DeviceItem& item : device_items) bytes += item.form != 0 ? item.memory.size() : 0;
  return bytes;
}

journal::StepBatch make_batch(StagedStep& step, std::vector<std::vector<std::string>>& strings) {
  journal::StepBatch batch;
  batch.global_step = step.id.global_step;
  batch.mode = step.id.mode;
  batch.mode_step = step.id.mode_step;
  strings.reserve(step.tensors.size());  // spans into it must stay
  for (const StagedTensor& tensor : step.tensors) {
    batch.tensors.push_back(kept_tensor(tensor, strings));
    if (tensor.statistics == 0) continue;
    add_statistics(step, tensor.id, TensorView::of(tensor.data.data(), tensor.dtype, tensor.shape), tensor.statistics);
  }
  batch.new_names = step.new_names;
  batch.scalars = step.scalars;
  batch.reductions = step.reductions;
  batch.losses = step.losses.rows();
  batch.statistics = std::move(step.statistics);
  return batch;
}

}  // namespace trainwarden::capture
