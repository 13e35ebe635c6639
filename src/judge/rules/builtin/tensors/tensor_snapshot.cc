#include "judge/rules/builtin/tensors/tensor_snapshot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kChunk = 4096;  // components that are compared at a time

std::size_t bytes_of(const TensorView& view) {
  return static_cast<std::size_t>(view.element_count()) * item_bytes(view.dtype);
}

Result<Statistics> hashed(const TensorView& view) {
  return compute_statistics(view, {.histogram = false, .hash = true});
}

SharedTensorValue single_value(double number) {
  auto owner = std::make_shared<const double>(number);
  const TensorView view = TensorView::of(owner.get(), DType::kFloat64, {1});
  return {view, std::move(owner), false};
}

Result<SharedTensorValue> value_or_scalar(const TensorSpot& spot, const StepWindow& window) {
  auto value = window.value(spot);
  if (value.ok()) return value;
  const auto scalar = window.scalar(spot);
  if (!scalar.ok()) return value.status();
  return single_value(*scalar);
}

bool is_close(double a, double b, const Closeness& closeness) {
  if (a == b) return true;
  if (std::isnan(a) && std::isnan(b)) return closeness.equal_nan;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  return std::abs(a - b) <= closeness.atol + closeness.rtol * std::abs(b);
}

// Stops at the first chunk that is not alike.
Likeness compare_values(const TensorView& a, const TensorView& b, const Closeness& closeness) {
  Likeness likeness{component_count(a) == component_count(b), LikenessGround::kValues, 0};
  for (std::int64_t first = 0; likeness.alike && first < component_count(a); first += kChunk) {
    const std::int64_t count = std::min(kChunk, component_count(a) - first);
    const std::vector<double> before = components_of(a, first, count);
    std::size_t i = 0;
    visit_components(b, first, count, [&](double now) {
      const double then = before[i++];
      likeness.alike = likeness.alike && is_close(then, now, closeness);
      if (then != now && std::isfinite(then - now)) {
        likeness.largest_difference = std::max(likeness.largest_difference, std::abs(then - now));
      }
    });
  }
  return likeness;
}

void drop_hash(Statistics& statistics) {
  statistics.has_hash = false;
  statistics.hash = 0;
}

Likeness compare_fingerprints(Statistics a, Statistics b, const Closeness& closeness) {
  Likeness likeness;
  likeness.ground = a.has_hash && b.has_hash ? LikenessGround::kHash : LikenessGround::kStatistics;
  if (likeness.ground == LikenessGround::kStatistics) {
    drop_hash(a);
    drop_hash(b);
  }
  likeness.alike = a == b && (a.nan_count == 0 || closeness.equal_nan);
  return likeness;
}

}  // namespace

Result<TensorSnapshot> TensorSnapshot::take(const TensorSpot& spot, const StepWindow& window, std::size_t most_bytes) {
  auto value = value_or_scalar(spot, window);
  if (value.ok()) return of_value(spot, *std::move(value), most_bytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* const statistics, window.statistics(spot));
  if (statistics->count == 0) return Status(Code::kOutOfRange, fmt::format("\"{}\" has no elements", spot.tensor));
  if (statistics->approximate) {
    return Status(Code::kOutOfRange,
                  fmt::format("\"{}\" has approximate statistics only: small changes are not in them", spot.tensor));
  }
  TensorSnapshot snapshot;
  TRAINWARDEN_ASSIGN_OR_RETURN(snapshot.shape_, window.shape(spot));
  snapshot.statistics_ = *statistics;
  snapshot.statistics_.has_histogram = false;
  snapshot.statistics_.histogram = {};
  return snapshot;
}

Result<TensorSnapshot> TensorSnapshot::of_value(const TensorSpot& spot, SharedTensorValue value,
                                                std::size_t most_bytes) {
  if (component_count(value.view) == 0) {
    return Status(Code::kOutOfRange, fmt::format("\"{}\" has no elements that are numbers", spot.tensor));
  }
  TensorSnapshot snapshot;
  snapshot.shape_ = value.view.shape;
  if (value.mapped || bytes_of(value.view) <= most_bytes) {
    snapshot.value_ = std::move(value);
    return snapshot;
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(snapshot.statistics_, hashed(value.view));
  return snapshot;
}

Result<Statistics> TensorSnapshot::fingerprint() const {
  if (!value_) return statistics_;
  return hashed(value_->view);
}

Result<Likeness> TensorSnapshot::compare(const TensorSnapshot& a, const TensorSnapshot& b, const Closeness& closeness) {
  if (!(a.shape_ == b.shape_)) return Likeness();
  if (a.value_ && b.value_) return compare_values(a.value_->view, b.value_->view, closeness);
  TRAINWARDEN_ASSIGN_OR_RETURN(Statistics of_a, a.fingerprint());
  TRAINWARDEN_ASSIGN_OR_RETURN(Statistics of_b, b.fingerprint());
  return compare_fingerprints(std::move(of_a), std::move(of_b), closeness);
}

std::size_t TensorSnapshot::held_bytes() const {
  return value_ && !value_->mapped ? bytes_of(value_->view) : 0;
}

}  // namespace trainwarden::rules
