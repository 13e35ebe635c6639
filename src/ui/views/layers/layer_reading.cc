#include "ui/views/layers/layer_reading.h"

#include <algorithm>

#include "core/base/clock.h"

namespace trainwarden::views {
namespace {

constexpr std::uint32_t kNoRow = 0xFFFFFFFF;
// About so many steps, from everywhere, are read first, then twice as many between them, and so on.
constexpr std::size_t kCoarse = 32;

}  // namespace

LayerReading::LayerReading(LayerQuantity quantity, std::optional<Mode> mode, LayerStretch stretch,
                           std::vector<LayerTensor> layers)
    : quantity_(quantity), mode_(mode), stretch_(stretch), layers_(std::move(layers)), grid_(layers_.size()) {
  for (std::size_t row = 0; row < layers_.size(); ++row) {
    const std::uint32_t tensor = layers_[row].tensor;
    if (tensor >= row_of_.size()) row_of_.resize(tensor + std::size_t{1}, kNoRow);
    row_of_[tensor] = static_cast<std::uint32_t>(row);
  }
}

std::size_t LayerReading::left() const {
  std::size_t left = 0;
  for (const Stretch& stretch : unread_) left += stretch.order.left();
  return left;
}

void LayerReading::forget() {
  steps_.clear();
  unread_.clear();
  looked_at_ = 0;
  highest_step_ = std::numeric_limits<std::int64_t>::min();
  damaged_ = 0;
  grid_ = LayerGrid(layers_.size());
}

bool LayerReading::holds(trial::TensorIndex& index, std::uint32_t step_index) {
  const auto group = index.group_of(step_index);
  if (!group) return false;
  if (*group >= holds_.size()) holds_.resize(index.groups(), -1);
  if (holds_[*group] < 0) {
    const auto tensors = index.tensors_of(*group);
    holds_[*group] = std::any_of(tensors.begin(), tensors.end(), [&](const auto& held) {
      return held.first < row_of_.size() && row_of_[held.first] != kNoRow && can_give(quantity_, held.second);
    });
  }
  return holds_[*group] == 1;
}

bool LayerReading::has_repeats(std::span<const journal::StepEntry> steps) const {
  std::int64_t highest = highest_step_;
  return std::any_of(steps.begin(), steps.end(), [&](const journal::StepEntry& step) {
    const bool is_again = step.global_step <= highest;
    highest = std::max(highest, step.global_step);
    return is_again;
  });
}

void LayerReading::extend(trial::WorkerJournal& worker, std::int64_t last_step) {
  trial::TensorIndex& index = worker.tensor_index();
  const auto all = worker.reader().steps();
  if (has_repeats(all.subspan(looked_at_))) forget();
  const std::size_t before = steps_.size();
  for (; looked_at_ < all.size(); ++looked_at_) {
    const journal::StepEntry& step = all[looked_at_];
    if (step.global_step > last_step) break;
    highest_step_ = std::max(highest_step_, step.global_step);
    const auto place = static_cast<std::uint32_t>(looked_at_);
    if (mode_ && step.mode != *mode_) continue;
    if (step.global_step < stretch_.from || step.global_step > stretch_.to) continue;
    // The newest record of a step holds.
    if (holds(index, place) && worker.step_index(step.global_step) == place)
      steps_.push_back({step.global_step, place});
  }
  const auto earlier = [](const HeldStep& a, const HeldStep& b) { return a.global_step < b.global_step; };
  if (!std::is_sorted(steps_.begin(), steps_.end(), earlier)) std::sort(steps_.begin(), steps_.end(), earlier);
  if (steps_.size() > before) unread_.push_back({before, CoarseOrder(steps_.size() - before, kCoarse)});
}

Status LayerReading::read(trial::WorkerJournal& worker, std::int64_t deadline_ns) {
  while (!unread_.empty()) {
    Stretch& newest = unread_.back();
    const auto next = newest.order.next();
    if (!next) {
      unread_.pop_back();
      continue;
    }
    TRAINWARDEN_RETURN_IF_ERROR(read_step(worker, newest.first + *next));
    if (system_clock().steady_ns() >= deadline_ns) break;
  }
  return {};
}

// Damage of what says what the step holds is damage of the step.
Status LayerReading::gather(trial::WorkerJournal& worker, std::size_t place, std::vector<KeptForms>& kept) {
  kept.assign(layers_.size(), {});
  const auto records = worker.reader().records(steps_[place].index);
  if (records.status().code() == Code::kDataLoss) ++damaged_;
  if (!records.ok()) return records.status().code() == Code::kDataLoss ? Status() : records.status();
  for (const journal::Record& record : *records) {
    const std::uint32_t row = record.tensor < row_of_.size() ? row_of_[record.tensor] : kNoRow;
    if (row != kNoRow) kept[row].records[static_cast<std::size_t>(record.form)] = record;
  }
  return {};
}

Status LayerReading::read_step(trial::WorkerJournal& worker, std::size_t place) {
  grid_.count(place);
  const bool compares = quantity_ == LayerQuantity::kUpdateRatio;
  if (compares && place == 0) return {};
  if (compares) TRAINWARDEN_RETURN_IF_ERROR(gather(worker, place - 1, before_));
  TRAINWARDEN_RETURN_IF_ERROR(gather(worker, place, now_));
  journal::JournalReader& reader = worker.reader();
  for (std::size_t row = 0; row < layers_.size(); ++row) {
    const auto number =
        compares ? layer_update_ratio(reader, before_[row], now_[row]) : layer_number(reader, now_[row], quantity_);
    if (!number.ok() && number.status().code() != Code::kDataLoss) return number.status();
    if (!number.ok()) ++damaged_;
    if (number.ok()) grid_.add(row, place, steps_[place].global_step, *number);
  }
  return {};
}

}  // namespace trainwarden::views
