// Trial: reading tensors.
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/step_text.h"
#include "read/trial/tensor_lookup.h"
#include "read/trial/trial_impl.h"

namespace trainwarden {
namespace {

using journal::RecordForm;
using trial::not_kept;
using trial::place_text;
using trial::Sighting;
using trial::TensorPlace;

Result<Statistics> statistics_of_scalar(double scalar) {
  return compute_statistics(TensorView::of(&scalar, DType::kFloat64, Shape()));
}

Result<Statistics> statistics_of(const Sighting& sighting, const TensorPlace& place) {
  if (const auto& record = sighting.record(RecordForm::kStatistics)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(journal::StatisticsRow row, sighting.reader().read_statistics(*record));
    return std::move(row.statistics);
  }
  if (const auto& record = sighting.record(RecordForm::kValue)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, sighting.reader().read_value(*record));
    Result<Statistics> statistics = compute_statistics(value.view());
    return statistics.ok() ? std::move(statistics) : statistics.status().with_context(place_text(place));
  }
  if (const auto& record = sighting.record(RecordForm::kScalar)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double scalar, sighting.reader().read_scalar(*record));
    return statistics_of_scalar(scalar);
  }
  return not_kept(place, sighting, "a form that has statistics");
}

Result<double> scalar_of_value(const Sighting& sighting, const journal::Record& record, const TensorPlace& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto type_and_shape, sighting.reader().read_shape(record));
  const auto& [dtype, shape] = type_and_shape;
  if (shape.element_count() != 1 || dtype == DType::kString) {
    return Status(Code::kInvalidArgument, fmt::format("{} is no number: it is {} of shape {}", place_text(place),
                                                      name(dtype), shape.to_string()));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, sighting.reader().read_value(record));
  return value.to_doubles().at(0);
}

// A value and, for strings, the views that a TensorView shows.
struct OwnedValue {
  TensorValue value;
  std::vector<std::string_view> strings;
};

SharedTensorValue shared(TensorValue value) {
  auto owned = std::make_shared<OwnedValue>();
  owned->value = std::move(value);
  SharedTensorValue shared{owned->value.view(), owned, false};
  if (owned->value.dtype == DType::kString) {
    owned->strings.assign(owned->value.strings.begin(), owned->value.strings.end());
    shared.view.data = owned->strings.data();
  }
  return shared;
}

}  // namespace

Result<TensorValue> Trial::value(std::string_view tensor, std::int64_t step, Mode mode, std::string_view worker) {
  return no_throw([&]() -> Result<TensorValue> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    const auto& record = sighting.record(RecordForm::kValue);
    if (!record) return trial::value_not_kept(impl_->run(), place, sighting);
    return sighting.reader().read_value(*record);
  });
}

Result<SharedTensorValue> Trial::shared_value(std::string_view tensor, std::int64_t step, Mode mode,
                                              std::string_view worker) {
  return no_throw([&]() -> Result<SharedTensorValue> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    const auto& record = sighting.record(RecordForm::kValue);
    if (!record) return trial::value_not_kept(impl_->run(), place, sighting);
    Result<SharedTensorValue> mapped = sighting.reader().map_value(*record);
    if (mapped.ok() || mapped.status().code() == Code::kDataLoss) return mapped;
    Result<SharedTensorValue> read = sighting.reader().read_shared_value(*record);
    if (read.ok() || read.status().code() != Code::kUnimplemented) return read;
    TRAINWARDEN_ASSIGN_OR_RETURN(TensorValue value, sighting.reader().read_value(*record));
    return shared(std::move(value));
  });
}

Result<Statistics> Trial::statistics(std::string_view tensor, std::int64_t step, Mode mode, std::string_view worker) {
  return no_throw([&]() -> Result<Statistics> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    return statistics_of(sighting, place);
  });
}

Result<double> Trial::scalar(std::string_view tensor, std::int64_t step, Mode mode, std::string_view worker) {
  return no_throw([&]() -> Result<double> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    if (const auto& record = sighting.record(RecordForm::kScalar)) return sighting.reader().read_scalar(*record);
    if (const auto& record = sighting.record(RecordForm::kValue)) return scalar_of_value(sighting, *record, place);
    return not_kept(place, sighting, "a scalar");
  });
}

Result<Shape> Trial::shape(std::string_view tensor, std::int64_t step, Mode mode, std::string_view worker) {
  return no_throw([&]() -> Result<Shape> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    for (const auto form : {RecordForm::kShape, RecordForm::kStatistics, RecordForm::kValue}) {
      if (!sighting.has(form)) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto type_and_shape, sighting.reader().read_shape(*sighting.record(form)));
      return type_and_shape.second;
    }
    if (!sighting.has(RecordForm::kScalar)) return not_kept(place, sighting, "its shape");
    return Shape();
  });
}

std::vector<std::string> Trial::workers_of(std::string_view tensor, std::int64_t step, Mode mode) const {
  trial::RunReader& run = impl_->run();
  const trial::CatalogTensor* known = run.catalog().find(tensor);
  const auto global_step = run.step_table().global_step(mode, step);
  std::vector<std::string> workers;
  if (known == nullptr || !global_step) return workers;
  for (const auto& worker : run.workers()) {
    const auto sighting = trial::look_for(run, *known, *global_step, worker->name());
    if (sighting.ok() && sighting->has_value()) workers.push_back(worker->name());
  }
  return workers;
}

}  // namespace trainwarden
