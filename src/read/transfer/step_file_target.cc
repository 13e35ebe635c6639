#include "read/transfer/step_file_target.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "data/foreign/smdebug_layout.h"
#include "read/transfer/statistics_fields.h"

namespace trainwarden::transfer {

Status StepFileTarget::begin_step(const WorkerStep& step) {
  step_ = step;
  tensors_.clear();
  names_.clear();
  return {};
}

Status StepFileTarget::write_value(std::string_view tensor, const SharedTensorValue& value) {
  hold(std::string(tensor), value);
  return {};
}

Status StepFileTarget::write_scalar(std::string_view tensor, double value) {
  hold_doubles(std::string(tensor), {value}, Shape());
  return {};
}

Status StepFileTarget::write_statistics(std::string_view tensor, const format::StatisticsRow& row) {
  plan_.notes.lost("counts of NaN, infinite and zero elements", tensor);
  if (row.statistics.has_hash) plan_.notes.lost("hashes", tensor);
  if (row.statistics.has_histogram) {
    std::vector<double> bins;
    for (const Histogram::Bin& bin : row.statistics.histogram.bins) {
      bins.push_back(Histogram::lower_edge(bin.index));
      bins.push_back(Histogram::upper_edge(bin.index));
      bins.push_back(static_cast<double>(bin.count));
    }
    const auto bin_count = static_cast<std::int64_t>(row.statistics.histogram.bins.size());
    hold_doubles(fmt::format("histograms/{}", tensor), std::move(bins), {bin_count, 3});
  }
  return write_reductions(tensor, reductions_of(row.statistics));
}

Status StepFileTarget::write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) {
  for (const SavedReduction& saved : reductions) {
    hold_doubles(fmt::format("reductions/{}/{}", field_name(saved.reduction, saved.abs), tensor), {saved.value},
                 Shape());
  }
  return {};
}

Status StepFileTarget::write_shape(std::string_view tensor, DType, const Shape&) {
  plan_.notes.lost("shapes without values", tensor);
  return {};
}

Status StepFileTarget::end_step() {
  const std::string file = fmt::format("{:012}.{}", step_.global_step, extension_);
  const auto path = plan_.options.out / foreign::serialise_worker(step_.worker) / file;
  Status status = write_step(path, step_, tensors_);
  tensors_.clear();
  return status;
}

Status StepFileTarget::finish(bool) {
  return {};
}

void StepFileTarget::hold(std::string name, SharedTensorValue value) {
  if (names_.insert(name).second) {
    tensors_.push_back({std::move(name), std::move(value)});
  } else {
    plan_.notes.lost(kTwiceUnderOneName, name);
  }
}

void StepFileTarget::hold_doubles(std::string name, std::vector<double> numbers, const Shape& shape) {
  const auto owner = std::make_shared<std::vector<double>>(std::move(numbers));
  hold(std::move(name), {TensorView::of(owner->data(), DType::kFloat64, shape), owner, false});
}

std::map<std::string, std::string> step_words(const Trial& trial, const WorkerStep& step) {
  return {{"run_id", trial.run_id()},
          {"worker", step.worker},
          {"step", std::to_string(step.global_step)},
          {"mode", std::string(name(step.mode))},
          {"mode_step", std::to_string(step.mode_step)},
          {"unix_ns", std::to_string(step.unix_ns)}};
}

}  // namespace trainwarden::transfer
