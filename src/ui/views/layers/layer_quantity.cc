#include "ui/views/layers/layer_quantity.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::views {
namespace {

using journal::Record;
using journal::RecordForm;

constexpr double kTinyWeight = 1e-9;  // the rule's epsilon
constexpr int kConvolutionRank = 4;
constexpr std::int64_t kChunk = 4096;  // components that are compared at once

// By kind where it is not finite itself.
LayerNumber value_of(double value) {
  if (std::isnan(value)) return {LayerNumber::Kind::kNan, 0};
  if (std::isinf(value)) return {LayerNumber::Kind::kInf, 0};
  return {LayerNumber::Kind::kFinite, value};
}

LayerNumber in_statistics(const Statistics& statistics, LayerQuantity quantity) {
  if (statistics.count == 0) return {};
  if (statistics.nan_count > 0) return {LayerNumber::Kind::kNan, 0};
  if (statistics.inf_count() > 0) return {LayerNumber::Kind::kInf, 0};
  switch (quantity) {
    case LayerQuantity::kNorm: return value_of(statistics.l2());
    case LayerQuantity::kZeroShare:
      return value_of(static_cast<double>(statistics.zero_count) / static_cast<double>(statistics.count));
    case LayerQuantity::kStd: return value_of(statistics.deviation());
    case LayerQuantity::kAbsMean: return value_of(statistics.abs_mean());
    case LayerQuantity::kUpdateRatio:
    case LayerQuantity::kDeadShare: break;
  }
  return {};
}

bool is_same(const SavedReduction& saved, LayerQuantity quantity) {
  switch (quantity) {
    case LayerQuantity::kNorm: return saved.reduction == Reduction::kL2;
    case LayerQuantity::kStd: return saved.reduction == Reduction::kStd && !saved.abs;
    case LayerQuantity::kAbsMean: return saved.reduction == Reduction::kMean && saved.abs;
    default: return false;
  }
}

// A unit is a channel of a tensor of four and more dimensions, else an element without the batch axis, as in the rule
// DeadRelu.
LayerNumber dead_share(const TensorView& view) {
  const Shape& shape = view.shape;
  const std::int64_t elements = view.element_count();
  if (elements == 0 || components_per_element(view.dtype) != 1) return {};
  const bool channels = shape.rank() >= kConvolutionRank;
  const std::int64_t units = channels ? shape[1] : shape.rank() > 1 ? elements / shape[0] : elements;
  std::int64_t inner = 1;
  for (int axis = 2; channels && axis < shape.rank(); ++axis) inner *= shape[axis];
  std::vector<bool> alive(static_cast<std::size_t>(units));
  bool has_nan = false;
  bool has_inf = false;
  std::int64_t at = 0;
  rules::visit_components(view, 0, elements, [&](double x) {
    has_nan = has_nan || std::isnan(x);
    has_inf = has_inf || std::isinf(x);
    if (x > 0) alive[static_cast<std::size_t>(at / inner % units)] = true;
    ++at;
  });
  if (has_nan) return {LayerNumber::Kind::kNan, 0};
  if (has_inf) return {LayerNumber::Kind::kInf, 0};
  const auto dead = std::count(alive.begin(), alive.end(), false);
  return value_of(static_cast<double>(dead) / static_cast<double>(units));
}

Result<LayerNumber> in_value(journal::JournalReader& reader, const Record& record, LayerQuantity quantity) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, reader.read_value(record));
  if (value.dtype == DType::kString) return LayerNumber();
  if (quantity == LayerQuantity::kDeadShare) return dead_share(value.view());
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics statistics, compute_statistics(value.view()));
  return in_statistics(statistics, quantity);
}

// Kind of what is not finite in either; a NaN comes before an infinity.
LayerNumber ratio_of(const TensorView& before, const TensorView& now) {
  double change = 0;
  double size = 0;
  bool has_nan = false;
  bool has_inf = false;
  const std::int64_t components = rules::component_count(now);
  for (std::int64_t first = 0; first < components; first += kChunk) {
    const std::int64_t count = std::min(kChunk, components - first);
    const std::vector<double> old = rules::components_of(before, first, count);
    const double* was = old.data();
    rules::visit_components(now, first, count, [&](double is) {
      has_nan = has_nan || std::isnan(is) || std::isnan(*was);
      has_inf = has_inf || std::isinf(is) || std::isinf(*was);
      change += std::abs(is - *was);
      size += std::abs(*was++);
    });
  }
  if (has_nan) return {LayerNumber::Kind::kNan, 0};
  if (has_inf) return {LayerNumber::Kind::kInf, 0};
  const auto count = static_cast<double>(components);
  return value_of(change / count / (size / count + kTinyWeight));
}

}  // namespace

Result<QuantityWords> parse_layer_quantity(std::string_view name) {
  std::vector<std::string> names;
  for (const QuantityWords& words : kLayerQuantities) {
    if (words.name == name) return words;
    names.emplace_back(words.name);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("there is no quantity \"{}\" of layers{}; there are {}", printable(name),
                            did_you_mean(name, names), fmt::join(names, ", ")));
}

bool needs_values(LayerQuantity quantity) {
  return quantity == LayerQuantity::kUpdateRatio || quantity == LayerQuantity::kDeadShare;
}

bool can_give(LayerQuantity quantity, std::uint8_t forms) {
  const auto has = [&](RecordForm form) { return (forms >> static_cast<int>(form) & 1) != 0; };
  if (needs_values(quantity)) return has(RecordForm::kValue);
  return has(RecordForm::kValue) || has(RecordForm::kStatistics) || has(RecordForm::kReductions);
}

Result<LayerNumber> layer_number(journal::JournalReader& reader, const KeptForms& now, LayerQuantity quantity) {
  if (const auto& record = now[RecordForm::kStatistics]; record && !needs_values(quantity)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const journal::StatisticsRow row, reader.read_statistics(*record));
    return in_statistics(row.statistics, quantity);
  }
  if (const auto& record = now[RecordForm::kReductions]) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved, reader.read_reductions(*record));
    for (const SavedReduction& each : saved) {
      if (is_same(each, quantity)) return value_of(each.value);
    }
  }
  if (const auto& record = now[RecordForm::kValue]) return in_value(reader, *record, quantity);
  return LayerNumber();
}

Result<LayerNumber> layer_update_ratio(journal::JournalReader& reader, const KeptForms& before, const KeptForms& now) {
  const auto& old_record = before[RecordForm::kValue];
  const auto& record = now[RecordForm::kValue];
  if (!old_record || !record) return LayerNumber();
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue old, reader.read_value(*old_record));
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, reader.read_value(*record));
  if (value.dtype == DType::kString || old.dtype != value.dtype || !(old.shape == value.shape)) return LayerNumber();
  if (value.view().element_count() == 0) return LayerNumber();
  return ratio_of(old.view(), value.view());
}

}  // namespace trainwarden::views
