#include "judge/rules/trial_window.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/trial/trial_access.h"

namespace trainwarden::rules {
namespace {

using journal::RecordForm;

constexpr std::size_t kReductionsOfOne = std::size_t{2} * kReductionCount;

}  // namespace

TrialWindow::TrialWindow(Trial& trial, std::int64_t global_step, TrialMemory* memory)
    : trial_(trial),
      place_(place_of(trial, global_step)),
      own_memory_(memory == nullptr ? std::make_unique<TrialMemory>() : nullptr),
      memory_(memory == nullptr ? *own_memory_ : *memory) {
  read_records();
  layout_ = &memory_.layout_of(workers_, TrialAccess::catalog(trial_));
  const std::size_t places = layout_->tensors().size();
  statistics_.resize(places);
  if (memory_.reductions.size() < places * kReductionsOfOne) memory_.reductions.resize(places * kReductionsOfOne);
  memory_.has_reduction.assign(places * kReductionsOfOne, 0);
}

// Workers whose step is damaged are left out, unless nothing else is there.
void TrialWindow::read_records() {
  for (trial::WorkerJournal* worker : TrialAccess::journals(trial_)) {
    if (!worker->readable()) continue;
    const auto index = worker->step_index(place_.global_step);
    if (!index) continue;
    ends_.push_back({worker->name(), worker->reader().unix_ns(*index)});
    const auto records = worker->records_at(place_.global_step);
    if (!records.ok()) damage_ = records.status().with_context(worker->name());
    if (records.ok() && !records->empty()) workers_.push_back({worker, {records->begin(), records->end()}});
  }
  const auto by_name = [](const WorkerRecords& a, const WorkerRecords& b) {
    return a.worker->name() < b.worker->name();
  };
  std::sort(workers_.begin(), workers_.end(), by_name);
  std::sort(ends_.begin(), ends_.end(), [](const WorkerEnd& a, const WorkerEnd& b) { return a.worker < b.worker; });
}

// Rules ask for every worker of the run at every step; most of them may have nothing there.
std::int64_t TrialWindow::ended_unix_ns(std::string_view worker) const {
  const auto end = std::lower_bound(ends_.begin(), ends_.end(), worker,
                                    [](const WorkerEnd& a, std::string_view name) { return a.worker < name; });
  return end != ends_.end() && end->worker == worker ? end->unix_ns : 0;
}

Result<std::span<const TensorSpot>> TrialWindow::select(const TensorSelection& selection) const {
  if (workers_.empty() && !damage_.ok()) return damage_;
  return layout_->select(selection, TrialAccess::catalog(trial_), trial_.world_size() > 1);
}

// By its handle when the spot is ours, else by its name and worker.
std::optional<std::uint32_t> TrialWindow::find(const TensorSpot& spot) const {
  const auto tensors = layout_->tensors();
  const auto is_it = [&](const PlacedTensor& placed) {
    return placed.tensor->name == spot.tensor && workers_[placed.worker].worker->name() == spot.worker;
  };
  if (spot.handle < tensors.size() && is_it(tensors[spot.handle])) return spot.handle;
  auto place =
      std::lower_bound(tensors.begin(), tensors.end(), spot.tensor,
                       [](const PlacedTensor& placed, const std::string& name) { return placed.tensor->name < name; });
  for (; place != tensors.end() && place->tensor->name == spot.tensor; ++place) {
    if (is_it(*place)) return static_cast<std::uint32_t>(place - tensors.begin());
  }
  return std::nullopt;
}

const journal::Record* TrialWindow::record(std::uint32_t place, RecordForm form) const {
  const std::uint32_t index = tensor(place).record[static_cast<std::size_t>(form)];
  return index == kNoRecord ? nullptr : &workers_[tensor(place).worker].records[index];
}

Result<const Statistics*> TrialWindow::statistics(const TensorSpot& spot) const {
  const auto place = find(spot);
  if (place) return statistics_at(spot, *place);
  const auto missing = trial_.statistics(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
  return missing.ok() ? Status(Code::kOutOfRange, "the tensor is not of this step") : missing.status();
}

Result<const Statistics*> TrialWindow::statistics_at(const TensorSpot& spot, std::uint32_t place) const {
  auto& statistics = statistics_[place];
  if (!statistics) statistics = read_statistics(spot, place);
  if (!statistics->ok()) return statistics->status();
  return &**statistics;
}

// The same as Trial::statistics(), without looking for the tensor, and without a copy of its value where the file lies
// in memory.
Result<Statistics> TrialWindow::read_statistics(const TensorSpot& spot, std::uint32_t place) const {
  if (const journal::Record* saved = record(place, RecordForm::kStatistics)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(journal::StatisticsRow row, reader(place).read_statistics(*saved));
    return std::move(row.statistics);
  }
  if (const journal::Record* saved = record(place, RecordForm::kValue)) {
    const Result<SharedTensorValue> value = reader(place).map_value(*saved);
    if (value.ok() && value->view.dtype != DType::kString) return compute_statistics(value->view);
  }
  return trial_.statistics(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<double> TrialWindow::reduction(const TensorSpot& spot, Reduction reduction, bool abs) const {
  const auto place = find(spot);
  if (!place) return trial_.reduction(spot.tensor, place_.global_step, reduction, abs, Mode::kGlobal, spot.worker);
  const std::size_t slot = *place * kReductionsOfOne + static_cast<std::size_t>(reduction) * 2 + (abs ? 1 : 0);
  if (memory_.has_reduction[slot] != 0) return memory_.reductions[slot];
  TRAINWARDEN_ASSIGN_OR_RETURN(const double value, work_out(spot, *place, reduction, abs));
  memory_.has_reduction[slot] = 1;
  memory_.reductions[slot] = value;
  return value;
}

// What is rare is read through the trial.
Result<double> TrialWindow::work_out(const TensorSpot& spot, std::uint32_t place, Reduction reduction, bool abs) const {
  const bool single = record(place, RecordForm::kReductions) != nullptr;
  const bool counted =
      record(place, RecordForm::kStatistics) != nullptr || record(place, RecordForm::kValue) != nullptr;
  if (single || !counted || !in_statistics(reduction)) {
    return trial_.reduction(spot.tensor, place_.global_step, reduction, abs, Mode::kGlobal, spot.worker);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* statistics, statistics_at(spot, place));
  return statistics->reduction(reduction, abs);
}

Result<std::vector<SavedReduction>> TrialWindow::saved_reductions(const TensorSpot& spot) const {
  return trial_.saved_reductions(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<SharedTensorValue> TrialWindow::value(const TensorSpot& spot) const {
  return trial_.shared_value(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<double> TrialWindow::scalar(const TensorSpot& spot) const {
  if (const auto place = find(spot)) {
    if (const journal::Record* saved = record(*place, RecordForm::kScalar)) return reader(*place).read_scalar(*saved);
  }
  return trial_.scalar(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<Shape> TrialWindow::shape(const TensorSpot& spot) const {
  return trial_.shape(spot.tensor, place_.global_step, Mode::kGlobal, spot.worker);
}

Result<DType> TrialWindow::dtype(const TensorSpot& spot) const {
  const auto place = find(spot);
  if (!place) return Status(Code::kOutOfRange, "the tensor is not of this step");
  for (const RecordForm form : {RecordForm::kStatistics, RecordForm::kValue, RecordForm::kShape}) {
    const journal::Record* const saved = record(*place, form);
    if (saved == nullptr) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto dtype_and_shape, reader(*place).read_shape(*saved));
    return dtype_and_shape.first;
  }
  if (record(*place, RecordForm::kScalar) != nullptr) return DType::kFloat64;
  return Status(Code::kOutOfRange,
                fmt::format("only single reductions of \"{}\" were kept, which do not hold its dtype; keep its "
                            "statistics",
                            printable(spot.tensor)));
}

}  // namespace trainwarden::rules
