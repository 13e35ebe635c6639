#include "rules/trial_window.h"

#include <algorithm>
#include <iterator>

#include "trial/trial_access.h"

namespace trainwarden::rules {
namespace {

// Adds the names that answer the query. An unknown collection has none.
Status add_names(const Trial& trial, const TensorQuery& query, std::vector<std::string>& names) {
  auto found = trial.tensor_names(query);
  if (found.ok()) {
    names.insert(names.end(), std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
  } else if (found.status().code() != Code::kNotFound) {
    return found.status();
  }
  return {};
}

Result<std::vector<std::string>> find_names(const Trial& trial, const TensorSelection& selection, std::int64_t step) {
  std::vector<std::string> names;
  if (selection.all) TRAINWARDEN_RETURN_IF_ERROR(add_names(trial, {.step = step}, names));
  for (const std::string& collection : selection.collections) {
    TRAINWARDEN_RETURN_IF_ERROR(add_names(trial, {.collection = collection, .step = step}, names));
  }
  if (!selection.patterns.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(add_names(trial, {.include = selection.patterns, .step = step}, names));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

TrialWindow::TrialWindow(Trial& trial, std::int64_t global_step)
    : trial_(trial), place_(place_of(trial, global_step)) {}

std::int64_t TrialWindow::ended_unix_ns(std::string_view worker) const {
  return TrialAccess::step_unix_ns(trial_, worker, place_.global_step);
}

Result<std::span<const TensorSpot>> TrialWindow::select(const TensorSelection& selection) const {
  const auto known = selected_.find(selection);
  if (known != selected_.end()) return std::span<const TensorSpot>(known->second);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, find_names(trial_, selection, place_.global_step));
  const bool many_workers = trial_.world_size() > 1;
  std::vector<TensorSpot> spots;
  for (const std::string& tensor : names) {
    for (const std::string& worker : trial_.workers_of(tensor, place_.global_step)) {
      spots.push_back({tensor, worker, many_workers ? worker : ""});
    }
  }
  return std::span<const TensorSpot>(selected_.emplace(selection, std::move(spots)).first->second);
}

Result<const Statistics*> TrialWindow::statistics(const TensorSpot& spot) const {
  const auto [place, is_new] = statistics_.try_emplace({spot.tensor, spot.worker}, Status(Code::kInternal, "unread"));
  Result<Statistics>& statistics = place->second;
  if (is_new) statistics = trial_.statistics(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
  if (!statistics.ok()) return statistics.status();
  return &*statistics;
}

Result<double> TrialWindow::reduction(const TensorSpot& spot, Reduction reduction, bool abs) const {
  return trial_.reduction(spot.tensor, place_.global_step, reduction, abs, Mode::kGlobal, spot.worker);
}

Result<std::vector<SavedReduction>> TrialWindow::saved_reductions(const TensorSpot& spot) const {
  return trial_.saved_reductions(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<SharedTensorValue> TrialWindow::value(const TensorSpot& spot) const {
  return trial_.shared_value(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<double> TrialWindow::scalar(const TensorSpot& spot) const {
  return trial_.scalar(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<Shape> TrialWindow::shape(const TensorSpot& spot) const {
  return trial_.shape(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

}  // namespace trainwarden::rules
