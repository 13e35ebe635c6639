#include "judge/rules/builtin/activations/unit_activity.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace {

constexpr int kConvolutionRank = 4;

// The unit of element e is (e / inner) % units.
struct UnitLayout {
  std::int64_t units = 0;
  std::int64_t samples = 0;
  std::int64_t inner = 1;
};

// A tensor of one dimension is one sample.
UnitLayout layout_of(const Shape& shape, UnitKind kind) {
  const std::int64_t elements = shape.element_count();
  const bool channels =
      shape.rank() > 1 && (kind == UnitKind::kChannel || (kind == UnitKind::kAuto && shape.rank() >= kConvolutionRank));
  UnitLayout layout;
  if (channels) {
    layout.units = shape[1];
    for (int axis = 2; axis < shape.rank(); ++axis) layout.inner *= shape[axis];
  } else {
    layout.units = shape.rank() > 1 ? elements / shape[0] : elements;
  }
  layout.samples = elements / layout.units;
  return layout;
}

bool is_active(double x, const ActiveRange& range) {
  return range.lowest < x && x < range.highest;
}

// False when an element is not finite; the counts mean nothing then.
bool count_active(const TensorView& view, const UnitLayout& layout, const ActiveRange& range,
                  std::vector<std::uint32_t>& active) {
  bool finite = true;
  std::int64_t at = 0;
  visit_components(view, 0, component_count(view), [&](double x) {
    const auto unit = static_cast<std::size_t>(at++ / layout.inner % layout.units);
    finite = finite && std::isfinite(x);
    if (is_active(x, range)) ++active[unit];
  });
  return finite;
}

struct Bounds {
  double least = 0;
  double most = 0;
};

// Of the elements that are not active, by the bins of the histogram.
Bounds bounds_by_histogram(const Histogram& histogram, const ActiveRange& range) {
  Bounds bounds;
  for (const Histogram::Bin& bin : histogram.bins) {
    double low = Histogram::lower_edge(bin.index);
    double high = Histogram::upper_edge(bin.index);
    if (low > high) std::swap(low, high);  // by magnitude
    const auto count = static_cast<double>(bin.count);
    if (high <= range.lowest || low >= range.highest) bounds.least += count;
    if (low <= range.lowest || high >= range.highest) bounds.most += count;
  }
  return bounds;
}

Bounds bounds_of_inactive(const Statistics& statistics, const ActiveRange& range) {
  const auto count = static_cast<double>(statistics.count);
  if (range.lowest < statistics.min && statistics.max < range.highest) return {0, 0};
  if (statistics.max <= range.lowest || statistics.min >= range.highest) return {count, count};
  if (range.lowest == 0 && statistics.min == 0 && statistics.max < range.highest) {
    const auto zeros = static_cast<double>(statistics.zero_count);
    return {zeros, zeros};
  }
  if (statistics.has_histogram) return bounds_by_histogram(statistics.histogram, range);
  return {0, count};
}

Status not_finite(const TensorSpot& spot) {
  return Status(Code::kOutOfRange, fmt::format("\"{}\" holds values that are not finite", spot.tensor));
}

}  // namespace

Result<LayerActivity> LayerWatch::add(const TensorSpot& spot, const StepWindow& window, const ActiveRange& range,
                                      const ActivityLimits& limits) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* const statistics, window.statistics(spot));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, window.shape(spot));
  if (statistics->count == 0) return Status(Code::kOutOfRange, fmt::format("\"{}\" has no elements", spot.tensor));
  if (statistics->finite_count() != statistics->count) return not_finite(spot);
  const UnitLayout layout = layout_of(shape, limits.unit);

  std::optional<LayerActivity> exact;
  if (const auto value = window.value(spot); value.ok()) {
    if (counted_.active.size() != static_cast<std::size_t>(layout.units)) {
      counted_ = {std::vector<std::uint32_t>(static_cast<std::size_t>(layout.units)), 0, 0};
    }
    if (!count_active(value->view, layout, range, counted_.active)) return not_finite(spot);
    counted_.samples += layout.samples;
    ++counted_.steps;
    exact = judge_counted(limits);
  }

  if (bounded_.units != layout.units) bounded_ = {};
  const Bounds inactive = bounds_of_inactive(*statistics, range);
  bounded_ = {bounded_.least + inactive.least,
              bounded_.most + inactive.most,
              bounded_.elements + static_cast<double>(statistics->count),
              layout.units,
              bounded_.samples + layout.samples,
              bounded_.steps + 1};
  const LayerActivity rough = judge_bounded(limits);
  return confirm(exact.value_or(rough), limits);
}

// A window that is not full or does not say changes nothing.
LayerActivity LayerWatch::confirm(LayerActivity activity, const ActivityLimits& limits) {
  if (activity.state == LayerActivity::State::kFine) windows_inactive_ = 0;
  if (activity.state == LayerActivity::State::kTooManyInactive && ++windows_inactive_ < limits.patience) {
    activity.state = LayerActivity::State::kUnconfirmed;
  }
  return activity;
}

std::optional<LayerActivity> LayerWatch::judge_counted(const ActivityLimits& limits) {
  if (counted_.steps < limits.num_steps || counted_.samples < limits.min_samples) return std::nullopt;
  const double needed = limits.inactivity_percent / 100 * static_cast<double>(counted_.samples);
  const auto inactive = std::count_if(counted_.active.begin(), counted_.active.end(),
                                      [&](std::uint32_t active) { return static_cast<double>(active) < needed; });
  LayerActivity activity;
  activity.inactive_percent = 100 * static_cast<double>(inactive) / static_cast<double>(counted_.active.size());
  activity.samples = counted_.samples;
  activity.state = activity.inactive_percent > limits.layer_percent ? LayerActivity::State::kTooManyInactive
                                                                    : LayerActivity::State::kFine;
  std::fill(counted_.active.begin(), counted_.active.end(), 0);
  counted_.samples = counted_.steps = 0;
  return activity;
}

LayerActivity LayerWatch::judge_bounded(const ActivityLimits& limits) {
  if (bounded_.steps < limits.num_steps || bounded_.samples < limits.min_samples) return {};
  const double share = limits.inactivity_percent / 100;
  const double least = share > 0 ? 100 * (1 - (1 - bounded_.least / bounded_.elements) / share) : 0;
  const double most = share < 1 ? 100 * bounded_.most / bounded_.elements / (1 - share) : 100;
  LayerActivity activity{LayerActivity::State::kUndecided, std::max(least, 0.0), least < 100, bounded_.samples};
  if (least > limits.layer_percent) activity.state = LayerActivity::State::kTooManyInactive;
  if (most <= limits.layer_percent) activity.state = LayerActivity::State::kFine;
  bounded_ = {};
  return activity;
}

}  // namespace trainwarden::rules
