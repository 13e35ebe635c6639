#include "read/trial/step_table.h"

#include <algorithm>

namespace trainwarden::trial {
namespace {

bool earlier(const StepRow& a, const StepRow& b) {
  return a.global_step < b.global_step;
}

}  // namespace

StepTable::StepTable(int worker_count, std::int64_t window) : window_(std::max<std::int64_t>(window, 0)) {
  set_worker_count(worker_count);
}

void StepTable::set_worker_count(int worker_count) {
  worker_count_ = static_cast<std::size_t>(std::max(worker_count, 0));
  if (worker_count_ > workers_.size()) workers_.resize(worker_count_);
}

StepTable::Worker& StepTable::worker_at(int worker) {
  const auto index = static_cast<std::size_t>(worker);
  if (index >= workers_.size()) workers_.resize(index + 1);
  return workers_[index];
}

void StepTable::add(int worker, const StepRow& step) {
  if (step.global_step < 0) return;
  arrivals_.push_back(step);
  if (step.global_step > last_complete_step_) worker_at(worker).ahead.push_back(step.global_step);
}

void StepTable::make_room(int worker, std::size_t steps) {
  trainwarden::make_room(arrivals_, steps);
  trainwarden::make_room(worker_at(worker).ahead, steps);
}

void StepTable::set_worker_ended(int worker, bool ended) {
  worker_at(worker).ended = ended;
}

void StepTable::settle() {
  merge_arrivals();
  for (Worker& worker : workers_) {
    if (!std::is_sorted(worker.ahead.begin(), worker.ahead.end())) std::sort(worker.ahead.begin(), worker.ahead.end());
  }
  advance_to_common_step();
  pass_stragglers();
  for (Worker& worker : workers_) {
    const auto kept = std::upper_bound(worker.ahead.begin(), worker.ahead.end(), last_complete_step_);
    worker.ahead.erase(worker.ahead.begin(), kept);
  }
}

void StepTable::merge_arrivals() {
  if (arrivals_.empty()) return;
  const auto not_earlier = [](const StepRow& a, const StepRow& b) { return a.global_step >= b.global_step; };
  const bool rising = std::adjacent_find(arrivals_.begin(), arrivals_.end(), not_earlier) == arrivals_.end();
  const bool are_new = rising && (steps_.empty() || earlier(steps_.back(), arrivals_.front()));
  const std::size_t first = are_new ? append_arrivals() : merge_among_known();
  arrivals_.clear();
  index_modes_from(first);
}

// Returns the index of the first that is new.
std::size_t StepTable::append_arrivals() {
  const std::size_t first = steps_.size();
  if (steps_.empty()) {
    steps_.swap(arrivals_);
  } else {
    steps_.insert(steps_.end(), arrivals_.begin(), arrivals_.end());
  }
  return first;
}

// Of steps that come out of order or again. Returns the index of the first that is new or changed.
std::size_t StepTable::merge_among_known() {
  std::stable_sort(arrivals_.begin(), arrivals_.end(), earlier);
  const auto tail = std::lower_bound(steps_.begin(), steps_.end(), arrivals_.front(), earlier);
  std::vector<StepRow> merged;
  std::merge(tail, steps_.end(), arrivals_.begin(), arrivals_.end(), std::back_inserter(merged), earlier);
  const auto first = static_cast<std::size_t>(tail - steps_.begin());
  steps_.erase(tail, steps_.end());
  for (const StepRow& step : merged) {
    if (steps_.size() > first && steps_.back().global_step == step.global_step) steps_.pop_back();
    steps_.push_back(step);
  }
  for (auto& index : mode_steps_) {
    std::erase_if(index, [&](const ModeStep& entry) { return entry.global_step >= merged.front().global_step; });
  }
  return first;
}

// Brings mode_steps_ in line with steps_, of which those from `first` on are not in it.
void StepTable::index_modes_from(std::size_t first) {
  for (const Mode mode : kAllModes) {
    if (mode == Mode::kGlobal) continue;
    const auto is_of_mode = [&](const StepRow& step) { return step.mode == mode; };
    const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first);
    Long<ModeStep>& index = mode_steps_[index_of(mode)];
    const std::size_t before = index.size();
    trainwarden::make_room(index, static_cast<std::size_t>(std::count_if(begin, steps_.end(), is_of_mode)));
    for (auto step = begin; step != steps_.end(); ++step) {
      if (is_of_mode(*step)) index.push_back({step->mode_step, step->global_step});
    }
    const auto unchecked = index.begin() + static_cast<std::ptrdiff_t>(before - (before > 0 ? 1 : 0));
    if (!std::is_sorted(unchecked, index.end())) std::sort(index.begin(), index.end());
  }
}

bool StepTable::ended_by_all(std::int64_t global_step) const {
  const auto ended = std::count_if(workers_.begin(), workers_.end(), [&](const Worker& worker) {
    return worker.ended || std::binary_search(worker.ahead.begin(), worker.ahead.end(), global_step);
  });
  return static_cast<std::size_t>(ended) >= worker_count_;
}

void StepTable::advance_to_common_step() {
  const std::size_t first = first_step_after(last_complete_step_);
  for (std::size_t i = steps_.size(); i > first; --i) {
    const std::int64_t step = steps_[i - 1].global_step;
    if (finished_ || ended_by_all(step)) {
      last_complete_step_ = step;
      return;
    }
  }
}

void StepTable::pass_stragglers() {
  const std::size_t first = first_step_after(last_complete_step_);
  const auto waiting = static_cast<std::int64_t>(steps_.size() - first);
  if (waiting <= window_) return;
  const auto passed = static_cast<std::size_t>(std::max<std::int64_t>(window_ / 2, 1));
  last_complete_step_ = steps_[first + passed - 1].global_step;
}

std::size_t StepTable::first_step_after(std::int64_t global_step) const {
  const auto found = std::upper_bound(steps_.begin(), steps_.end(), StepRow{global_step, {}, {}}, earlier);
  return static_cast<std::size_t>(found - steps_.begin());
}

const StepRow* StepTable::find(std::int64_t global_step) const {
  const auto found = std::lower_bound(steps_.begin(), steps_.end(), StepRow{global_step, {}, {}}, earlier);
  return found != steps_.end() && found->global_step == global_step ? &*found : nullptr;
}

const StepRow* StepTable::find(std::int64_t global_step, const StepRow* before) const {
  if (before == nullptr || before == &steps_.back()) return find(global_step);
  return before[1].global_step == global_step ? before + 1 : find(global_step);
}

bool StepTable::is_complete(std::int64_t global_step) const {
  return global_step <= last_complete_step_ && find(global_step) != nullptr;
}

std::vector<std::int64_t> StepTable::steps(Mode mode, bool include_incomplete) const {
  std::vector<std::int64_t> steps;
  const auto add = [&](std::int64_t step, std::int64_t global_step) {
    const bool repeated = !steps.empty() && steps.back() == step;
    if (!repeated && (include_incomplete || global_step <= last_complete_step_)) steps.push_back(step);
  };
  if (mode == Mode::kGlobal) {
    for (const StepRow& step : steps_) add(step.global_step, step.global_step);
  } else {
    for (const ModeStep& entry : mode_steps_[index_of(mode)]) add(entry.step, entry.global_step);
  }
  return steps;
}

std::span<const StepRow> StepTable::complete_rows_after(std::int64_t global_step) const {
  const std::size_t first = first_step_after(global_step);
  return std::span(steps_).subspan(first, std::max(first, first_step_after(last_complete_step_)) - first);
}

std::vector<std::int64_t> StepTable::complete_steps_after(std::int64_t global_step) const {
  std::vector<std::int64_t> steps;
  for (const StepRow& row : complete_rows_after(global_step)) steps.push_back(row.global_step);
  return steps;
}

std::vector<Mode> StepTable::modes() const {
  std::vector<Mode> modes;
  for (const Mode mode : kAllModes) {
    if (!mode_steps_[index_of(mode)].empty()) modes.push_back(mode);
  }
  if (modes.empty() && !steps_.empty()) modes.push_back(Mode::kGlobal);
  return modes;
}

std::optional<StepTable::ModeStep> StepTable::first_at_or_after(Mode mode, std::int64_t step) const {
  if (mode == Mode::kGlobal) {
    const auto found = std::lower_bound(steps_.begin(), steps_.end(), StepRow{step, {}, {}}, earlier);
    if (found == steps_.end()) return std::nullopt;
    return ModeStep{found->global_step, found->global_step};
  }
  const auto& index = mode_steps_[index_of(mode)];
  auto found = std::lower_bound(index.begin(), index.end(), ModeStep{step, -1});
  if (found == index.end()) return std::nullopt;
  // A step of the mode that was ended twice, by a program that started again, is the later one.
  while (std::next(found) != index.end() && std::next(found)->step == found->step) ++found;
  return *found;
}

std::optional<std::int64_t> StepTable::global_step(Mode mode, std::int64_t step) const {
  const auto found = first_at_or_after(mode, step);
  if (!found || found->step != step) return std::nullopt;
  return found->global_step;
}

StepState StepTable::state(std::int64_t step, Mode mode) const {
  const auto next = first_at_or_after(mode, step);
  if (!next) return finished_ ? StepState::kUnavailable : StepState::kNotYetAvailable;
  if (next->global_step > last_complete_step_) return StepState::kNotYetAvailable;
  return next->step == step ? StepState::kAvailable : StepState::kUnavailable;
}

}  // namespace trainwarden::trial
