#include "ui/cli/reports/tensor_reading.h"

#include <tuple>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/nearest_step.h"

namespace trainwarden::cli {
namespace {

// The last step that holds the tensor whole, else the last that has it in any form.
Result<std::int64_t> last_step_of(Trial& trial, const ReadingQuery& query) {
  TRAINWARDEN_RETURN_IF_ERROR(trial.tensor_info(query.tensor).status());
  const std::vector<std::int64_t> whole = trial.steps_of(query.tensor, query.mode, Kept::kValue);
  for (auto step = whole.rbegin(); step != whole.rend(); ++step) {  // the last may be another worker's
    if (trial.value(query.tensor, *step, query.mode, query.worker).status().code() != Code::kOutOfRange) return *step;
  }
  const std::vector<std::int64_t> steps = trial.steps_of(query.tensor, query.mode, Kept::kAny);
  if (!steps.empty()) return steps.back();
  return Status(Code::kOutOfRange, fmt::format("\"{}\" was not kept at any step of mode {}; its global steps are {}",
                                               printable(query.tensor), name(query.mode),
                                               format_steps(trial.steps_of(query.tensor, Mode::kGlobal, Kept::kAny))));
}

// The result's value, or nothing when the tensor was kept in another form. Other errors go to `failure`.
template <class T>
std::optional<T> kept(Result<T> result, Status& failure) {
  if (result.ok()) return std::move(result).value();
  const Code code = result.status().code();
  const bool another_form = code == Code::kOutOfRange || code == Code::kNotFound || code == Code::kInvalidArgument;
  if (!another_form && failure.ok()) failure = result.status();
  return std::nullopt;
}

// Fills in what was kept; `step` is global.
Status read_forms(Trial& trial, TensorReading& reading) {
  Status failure;
  const auto& [tensor, worker, step] = std::tie(reading.tensor, reading.worker, reading.step);
  reading.value = kept(trial.value(tensor, step, Mode::kGlobal, worker), failure);
  TRAINWARDEN_RETURN_IF_ERROR(failure);
  const bool is_text = reading.value && reading.value->dtype == DType::kString;
  if (!is_text) reading.statistics = kept(trial.statistics(tensor, step, Mode::kGlobal, worker), failure);
  if (!reading.value) reading.scalar = kept(trial.scalar(tensor, step, Mode::kGlobal, worker), failure);
  TRAINWARDEN_RETURN_IF_ERROR(failure);
  if (reading.value) reading.dtype = reading.value->dtype;
  if (reading.scalar) reading.dtype = DType::kFloat64;
  return {};
}

}  // namespace

Result<TensorReading> read_tensor(Trial& trial, const ReadingQuery& query) {
  std::int64_t step = query.step.value_or(0);
  if (!query.step) {
    TRAINWARDEN_ASSIGN_OR_RETURN(step, last_step_of(trial, query));
  }
  TensorReading reading;
  // First of all, since its errors name the nearest tensor, step and worker.
  const auto shape = trial.shape(query.tensor, step, query.mode, query.worker);
  if (shape.ok()) reading.shape = *shape;
  auto reductions = trial.saved_reductions(query.tensor, step, query.mode, query.worker);
  if (!shape.ok() && !reductions.ok()) return shape.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorInfo info, trial.tensor_info(query.tensor));
  if (reductions.ok() && info.reductions > 0) reading.reductions = *std::move(reductions);
  reading.tensor = query.tensor;
  reading.worker = query.worker.empty() ? trial.workers_of(query.tensor, step, query.mode).front() : query.worker;
  reading.dtype = info.dtype;
  reading.step = trial.global_step(query.mode, step).value_or(step);
  reading.mode = trial.mode_of(reading.step).value_or(Mode::kGlobal);
  reading.mode_step = trial.mode_step_of(reading.step).value_or(reading.step);
  TRAINWARDEN_RETURN_IF_ERROR(read_forms(trial, reading));
  if (!reading.value) {
    reading.nearest_whole =
        views::nearest_step(trial.steps_of(query.tensor, Mode::kGlobal, Kept::kValue), reading.step);
  }
  return reading;
}

}  // namespace trainwarden::cli
