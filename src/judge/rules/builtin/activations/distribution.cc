#include "judge/rules/builtin/activations/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostVarianceError = 0.1;
constexpr int kFirstNegativeBin = Histogram::kBinCount / 2;

// Elements that lie in [low, high], with a density that rises or falls evenly: at low it is 1 - slope times its mean,
// at high 1 + slope times.
struct Span {
  double low = 0;
  double high = 0;
  double count = 0;
  double slope = 0;
  double middle() const { return (low + high) / 2; }
  double density() const { return high > low ? count / (high - low) : 0; }
};

// The bins by rising value, those of negative numbers rise by magnitude; cut off at the extremes, which are spans of
// their own.
std::vector<Span> cut_at_extremes(const Statistics& statistics) {
  std::vector<Span> spans;
  for (const Histogram::Bin& bin : statistics.histogram.bins) {
    const bool negative = bin.index >= kFirstNegativeBin;
    const double inner = Histogram::lower_edge(bin.index);
    const double outer = Histogram::upper_edge(bin.index);
    const double low = std::clamp(negative ? outer : inner, statistics.min, statistics.max);
    const double high = std::clamp(negative ? inner : outer, statistics.min, statistics.max);
    spans.push_back({low, high, static_cast<double>(bin.count)});
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.middle() < b.middle(); });
  if (spans.size() < 2) return spans;
  --spans.front().count;
  --spans.back().count;
  spans.insert(spans.begin(), {statistics.min, statistics.min, 1});
  spans.push_back({statistics.max, statistics.max, 1});
  return spans;
}

// Density of the neighbour, 0 across a gap.
double density_beside(const Span& span, const Span& neighbour) {
  const double gap = std::max(neighbour.low - span.high, span.low - neighbour.high);
  return gap > 0 ? 0 : neighbour.density();
}

std::vector<Span> spans_of(const Statistics& statistics) {
  std::vector<Span> spans = cut_at_extremes(statistics);
  for (std::size_t i = 1; i + 1 < spans.size(); ++i) {
    Span& span = spans[i];
    if (!(span.density() > 0)) continue;
    const double distance = spans[i + 1].middle() - spans[i - 1].middle();
    const double rise = density_beside(span, spans[i + 1]) - density_beside(span, spans[i - 1]);
    span.slope = std::clamp(rise / distance * (span.high - span.low) / 2 / span.density(), -1.0, 1.0);
  }
  return spans;
}

// The mean of (x - center)² over a span.
double second_moment(const Span& span, double center) {
  const double c = span.middle() - center;
  const double h = (span.high - span.low) / 2;
  return c * c + 2 * c * h * span.slope / 3 + h * h / 3;
}

// The mean of (x - center)⁴ over a span.
double fourth_moment(const Span& span, double center) {
  const double c = span.middle() - center;
  const double h = (span.high - span.low) / 2;
  return std::pow(c, 4) + 4 * std::pow(c, 3) * h * span.slope / 3 + 2 * c * c * h * h +
         4 * c * std::pow(h, 3) * span.slope / 5 + std::pow(h, 4) / 5;
}

// Ok when the tensor can be measured.
Status check(const TensorSpot& spot, const Statistics& statistics, std::uint64_t least_count) {
  if (statistics.count < least_count) {
    return Status(Code::kOutOfRange, fmt::format("\"{}\" has {} elements; at least {} are needed", spot.tensor,
                                                 statistics.count, least_count));
  }
  if (statistics.finite_count() == statistics.count) return {};
  return Status(Code::kOutOfRange, fmt::format("\"{}\" holds values that are not finite", spot.tensor));
}

// of_elements(vector) where there are values, else of_statistics(Statistics) where there is a histogram.
template <class OfElements, class OfStatistics>
Result<double> measure(const TensorSpot& spot, const StepWindow& window, std::uint64_t least_count,
                       OfElements&& of_elements, OfStatistics&& of_statistics) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* const statistics, window.statistics(spot));
  TRAINWARDEN_RETURN_IF_ERROR(check(spot, *statistics, least_count));
  if (statistics->has_histogram) return of_statistics(*statistics);
  const auto value = window.value(spot);
  if (value.ok()) return of_elements(components_of(value->view));
  return Status(Code::kOutOfRange, fmt::format("of \"{}\" neither values nor a histogram were captured", spot.tensor));
}

}  // namespace

double quantile(std::vector<double> elements, double q) {
  if (elements.empty()) return kNone;
  const double position = q * static_cast<double>(elements.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto at = elements.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(elements.begin(), at, elements.end());
  if (below + 1 == elements.size()) return *at;
  const double next = *std::min_element(at + 1, elements.end());
  return *at + (position - static_cast<double>(below)) * (next - *at);
}

double quantile(const Statistics& statistics, double q) {
  const double wanted = q * static_cast<double>(statistics.finite_count());
  double passed = 0;
  double last = kNone;
  for (const Span& span : spans_of(statistics)) {
    if (passed + span.count >= wanted && span.count > 0)
      return span.low + (wanted - passed) / span.count * (span.high - span.low);
    passed += span.count;
    last = span.high;
  }
  return last;
}

double kurtosis(const std::vector<double>& elements) {
  const auto count = static_cast<double>(elements.size());
  double sum = 0;
  for (const double x : elements) sum += x;
  const double mean = sum / count;
  double squares = 0;
  double fourths = 0;
  for (const double x : elements) {
    const double square = (x - mean) * (x - mean);
    squares += square;
    fourths += square * square;
  }
  return squares > 0 ? fourths * count / (squares * squares) : kNone;
}

double kurtosis(const Statistics& statistics) {
  const double variance = statistics.variance();
  if (!(variance > 0)) return kNone;
  const double mean = statistics.mean();
  const auto count = static_cast<double>(statistics.finite_count());
  double squares = 0;
  double fourths = 0;
  for (const Span& span : spans_of(statistics)) {
    squares += span.count * second_moment(span, mean);
    fourths += span.count * fourth_moment(span, mean);
  }
  if (std::abs(squares / count - variance) > kMostVarianceError * variance) return kNone;
  return fourths * count / (squares * squares);
}

Result<double> quantile_range(const TensorSpot& spot, const StepWindow& window, double low, double high,
                              std::uint64_t least_count) {
  return measure(
      spot, window, least_count,
      [&](const std::vector<double>& elements) { return quantile(elements, high) - quantile(elements, low); },
      [&](const Statistics& statistics) { return quantile(statistics, high) - quantile(statistics, low); });
}

Result<double> kurtosis(const TensorSpot& spot, const StepWindow& window, std::uint64_t least_count) {
  return measure(
      spot, window, least_count, [](const std::vector<double>& elements) { return kurtosis(elements); },
      [](const Statistics& statistics) { return kurtosis(statistics); });
}

}  // namespace trainwarden::rules
