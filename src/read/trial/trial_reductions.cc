// Trial: reductions, from whatever was kept of a tensor.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/no_throw.h"
#include "read/trial/tensor_lookup.h"
#include "read/trial/trial_impl.h"

namespace trainwarden {
namespace {

using journal::RecordForm;
using trial::Sighting;
using trial::TensorPlace;

// None when it is not among the single ones.
Result<std::optional<double>> single_reduction(const Sighting& sighting, Reduction reduction, bool abs) {
  const auto& record = sighting.record(RecordForm::kReductions);
  if (!record) return std::optional<double>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved, sighting.reader().read_reductions(*record));
  const auto found = std::find_if(saved.begin(), saved.end(), [&](const SavedReduction& candidate) {
    return candidate.reduction == reduction && candidate.abs == abs;
  });
  return found == saved.end() ? std::optional<double>() : std::optional(found->value);
}

double product(const std::vector<double>& elements, bool abs) {
  double product = 1;
  for (const double element : elements) product *= abs ? std::fabs(element) : element;
  return product;
}

Result<double> product_of(const Sighting& sighting, const TensorPlace& place, bool abs) {
  if (const auto& record = sighting.record(RecordForm::kValue)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, sighting.reader().read_value(*record));
    if (value.dtype == DType::kString) return trial::not_kept(place, sighting, "a product (strings have none)");
    return product(value.to_doubles(), abs);
  }
  if (const auto& record = sighting.record(RecordForm::kScalar)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double scalar, sighting.reader().read_scalar(*record));
    return product({scalar}, abs);
  }
  return trial::not_kept(place, sighting, "its " + describe(Reduction::kProd, abs));
}

bool has_elements_or_statistics(const Sighting& sighting) {
  return sighting.has(RecordForm::kStatistics) || sighting.has(RecordForm::kValue) || sighting.has(RecordForm::kScalar);
}

std::vector<SavedReduction> reductions_of(const Statistics& statistics) {
  std::vector<SavedReduction> reductions;
  for (int i = 0; i < kStatisticsReductionCount; ++i) {
    const auto reduction = static_cast<Reduction>(i);
    for (const bool abs : {false, true}) reductions.push_back({reduction, abs, statistics.reduction(reduction, abs)});
  }
  return reductions;
}

}  // namespace

Result<double> Trial::reduction(std::string_view tensor, std::int64_t step, Reduction reduction, bool abs, Mode mode,
                                std::string_view worker) {
  return no_throw([&]() -> Result<double> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto single, single_reduction(sighting, reduction, abs));
    if (single) return *single;
    if (!in_statistics(reduction)) return product_of(sighting, place, abs);
    if (!has_elements_or_statistics(sighting)) {
      return trial::not_kept(place, sighting, "its " + describe(reduction, abs));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics statistics, this->statistics(tensor, step, mode, worker));
    return statistics.reduction(reduction, abs);
  });
}

Result<std::vector<SavedReduction>> Trial::saved_reductions(std::string_view tensor, std::int64_t step, Mode mode,
                                                            std::string_view worker) {
  return no_throw([&]() -> Result<std::vector<SavedReduction>> {
    const TensorPlace place{tensor, step, mode, worker};
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sighting sighting, trial::find_tensor(impl_->run(), place));
    if (const auto& record = sighting.record(RecordForm::kReductions)) {
      return sighting.reader().read_reductions(*record);
    }
    if (const auto& record = sighting.record(RecordForm::kStatistics)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const journal::StatisticsRow row, sighting.reader().read_statistics(*record));
      return reductions_of(row.statistics);
    }
    return trial::not_kept(place, sighting, "a reduction");
  });
}

}  // namespace trainwarden
