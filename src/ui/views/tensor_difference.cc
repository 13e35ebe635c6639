#include "ui/views/tensor_difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/tensor_elements.h"

namespace trainwarden::views {
namespace {

constexpr double kRoundedSums = 1e-3;      // as far may approximate statistics of one tensor be apart
constexpr std::int64_t kAtOnce = 1 << 16;  // components that are held as doubles at a time

// Takes pairs of numbers one by one.
class Gap {
 public:
  void take(double a, double b) {
    const std::int64_t place = elements_++;
    for (const double x : {a, b}) {
      if (std::isfinite(x)) largest_ = std::max(largest_, std::abs(x));
    }
    if (a == b || (std::isnan(a) && std::isnan(b))) return;
    const double apart = std::abs(a - b);
    const double difference = std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
    ++differing_;
    if (difference <= difference_) return;
    difference_ = difference;
    a_ = a;
    b_ = b;
    place_ = place;
  }

  std::optional<Parting> parting(double tolerance) const {
    if (differing_ == 0) return std::nullopt;
    const double relative = largest_ > 0 ? difference_ / largest_ : std::numeric_limits<double>::infinity();
    if (relative <= tolerance) return std::nullopt;
    Parting parting;
    parting.a = a_;
    parting.b = b_;
    parting.place = place_;
    parting.difference = difference_;
    parting.relative = relative;
    parting.differing = differing_;
    parting.elements = static_cast<std::uint64_t>(elements_);
    return parting;
  }

 private:
  double largest_ = 0;
  double difference_ = 0;
  double a_ = 0;
  double b_ = 0;
  std::int64_t place_ = -1;
  std::uint64_t differing_ = 0;
  std::int64_t elements_ = 0;
};

Parting in_words(std::string form, std::string words) {
  Parting parting;
  parting.form = std::move(form);
  parting.quantity = std::move(words);
  parting.difference = parting.relative = std::numeric_limits<double>::infinity();
  return parting;
}

std::optional<Parting> named(std::optional<Parting> parting, const char* form) {
  if (parting) parting->form = form;
  return parting;
}

std::optional<Parting> text_difference(const TensorView& a, const TensorView& b) {
  const auto* const left = static_cast<const std::string_view*>(a.data);
  const auto* const right = static_cast<const std::string_view*>(b.data);
  Parting parting = in_words("texts", "");
  parting.elements = static_cast<std::uint64_t>(a.element_count());
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    if (left[i] == right[i]) continue;
    if (parting.differing++ == 0) parting.place = i;
  }
  if (parting.differing == 0) return std::nullopt;
  parting.quantity = fmt::format("text {} is another", parting.place);
  return parting;
}

std::optional<Parting> value_difference(const TensorView& a, const TensorView& b, double tolerance) {
  if (a.dtype != b.dtype || a.shape != b.shape) {
    return in_words("dtype and shape", fmt::format("{} {} and {} {}", name(a.dtype), a.shape.to_string(), name(b.dtype),
                                                   b.shape.to_string()));
  }
  if (a.dtype == DType::kString) return text_difference(a, b);
  if (std::memcmp(a.data, b.data, a.packed_bytes()) == 0) return std::nullopt;
  Gap gap;
  const std::int64_t count = rules::component_count(a);
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    const std::int64_t part = std::min(kAtOnce, count - first);
    const std::vector<double> left = rules::components_of(a, first, part);
    const std::vector<double> right = rules::components_of(b, first, part);
    for (std::size_t i = 0; i < left.size(); ++i) gap.take(left[i], right[i]);
  }
  return named(gap.parting(tolerance), "value");
}

// Numbers of the same magnitude as the elements: what differs is measured by the largest of them.
std::optional<Parting> statistics_difference(const Statistics& a, const Statistics& b, double tolerance) {
  if (a.approximate || b.approximate) tolerance = std::max(tolerance, kRoundedSums);
  if (tolerance == 0 && a == b) return std::nullopt;
  const std::array<std::pair<const char*, std::array<double, 2>>, 5> counts = {
      {{"count", {static_cast<double>(a.count), static_cast<double>(b.count)}},
       {"nan_count", {static_cast<double>(a.nan_count), static_cast<double>(b.nan_count)}},
       {"positive_inf_count", {static_cast<double>(a.positive_inf_count), static_cast<double>(b.positive_inf_count)}},
       {"negative_inf_count", {static_cast<double>(a.negative_inf_count), static_cast<double>(b.negative_inf_count)}},
       {"zero_count", {static_cast<double>(a.zero_count), static_cast<double>(b.zero_count)}}}};
  const std::array<std::pair<const char*, std::array<double, 2>>, 6> sizes = {
      {{"abs_max", {a.abs_max, b.abs_max}},
       {"min", {a.min, b.min}},
       {"max", {a.max, b.max}},
       {"mean", {a.mean(), b.mean()}},
       {"abs_mean", {a.abs_mean(), b.abs_mean()}},
       {"std", {a.deviation(), b.deviation()}}}};
  Gap gap;
  for (const auto& [quantity, pair] : sizes) gap.take(pair[0], pair[1]);
  auto parting = named(gap.parting(tolerance), "statistics");
  if (parting) {
    parting->quantity = sizes[static_cast<std::size_t>(parting->place)].first;
    parting->place = -1;
    parting->differing = parting->elements = 0;
    return parting;
  }
  for (const auto& [quantity, pair] : counts) {
    // With a tolerance a zero here and there is none of ours.
    if (pair[0] == pair[1] || (tolerance > 0 && std::string_view(quantity) == "zero_count")) continue;
    Parting counted = in_words("statistics", quantity);
    counted.a = pair[0];
    counted.b = pair[1];
    return counted;
  }
  if (tolerance > 0) return std::nullopt;
  if (a.has_hash && b.has_hash && a.hash != b.hash) return in_words("statistics", "hash");
  if (a.sum != b.sum || a.abs_sum != b.abs_sum || a.square_sum != b.square_sum) return in_words("statistics", "sums");
  if (a.has_histogram && b.has_histogram && a.histogram != b.histogram) return in_words("statistics", "histogram");
  return std::nullopt;
}

bool not_kept(const Status& status) {
  return status.code() == Code::kOutOfRange || status.code() == Code::kInvalidArgument;
}

}  // namespace

Result<std::optional<Parting>> difference_of(const rules::TrialWindow& a, const TensorSpot& spot_a,
                                             const rules::TrialWindow& b, const TensorSpot& spot_b, double tolerance) {
  const auto value_a = a.value(spot_a);
  const auto value_b = value_a.ok() ? b.value(spot_b) : value_a;
  if (value_a.ok() && value_b.ok()) return value_difference(value_a->view, value_b->view, tolerance);
  const auto scalar_a = a.scalar(spot_a);
  const auto scalar_b = scalar_a.ok() ? b.scalar(spot_b) : scalar_a;
  if (scalar_a.ok() && scalar_b.ok()) {
    Gap gap;
    gap.take(*scalar_a, *scalar_b);
    return named(gap.parting(tolerance), "scalar");
  }
  const auto statistics_a = a.statistics(spot_a);
  const auto statistics_b = statistics_a.ok() ? b.statistics(spot_b) : statistics_a;
  if (statistics_a.ok() && statistics_b.ok()) return statistics_difference(**statistics_a, **statistics_b, tolerance);
  const Status& why = statistics_a.ok() ? statistics_b.status() : statistics_a.status();
  if (not_kept(why)) return std::optional<Parting>();
  return why;
}

}  // namespace trainwarden::views
