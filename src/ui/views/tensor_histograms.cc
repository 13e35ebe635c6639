#include "ui/views/tensor_histograms.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "core/base/clock.h"

namespace trainwarden::views {
namespace {

using journal::RecordForm;
using Steps = std::vector<std::int64_t>;

// Of one tensor and worker: the statistics that were looked into. Steps that come before the last of these later, of a
// worker that was slow, are not.
struct SeenStatistics {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  Steps with_histogram;  // rising
};

struct StatisticsMemory {
  std::map<std::pair<std::string, std::string>, SeenStatistics> seen;  // by tensor and worker
};

constexpr std::size_t kMostSeen = 4096;  // tensors

bool has_histogram(Trial& trial, std::string_view tensor, std::int64_t step, const std::string& worker) {
  const auto seen = see_tensor(trial, tensor, step, worker);
  if (!seen.ok() || !seen->sighting.has(RecordForm::kStatistics)) return false;
  const auto row = seen->sighting.reader().read_statistics(*seen->sighting.record(RecordForm::kStatistics));
  return row.ok() && row->statistics.has_histogram;
}

// Looks into those of `steps` (rising) that came since, until the time is over. How many are left.
std::size_t look_into(SeenStatistics& seen, std::span<const std::int64_t> steps, Trial& trial, std::string_view tensor,
                      const std::string& worker, std::chrono::nanoseconds patience) {
  const std::int64_t end_ns = system_clock().steady_ns() + patience.count();
  auto step = std::upper_bound(steps.begin(), steps.end(), seen.last);
  for (; step != steps.end() && system_clock().steady_ns() < end_ns; ++step) {
    if (has_histogram(trial, tensor, *step, worker)) seen.with_histogram.push_back(*step);
    seen.last = *step;
  }
  return static_cast<std::size_t>(steps.end() - step);
}

Steps united(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  Steps all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

Steps without(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  Steps left;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(left));
  return left;
}

constexpr int kNegative = Histogram::kBinCount / 2;

// Bins on one line: ..., -2, -1 for the negative ones from large to small, 1, 2, ... for the positive ones. 0 holds
// zeros and what is too small.
int place_of(int bin) {
  return bin < kNegative ? bin : kNegative - bin;
}

// The places of one sign that hold anything, by their distance from zero; outer 0: none.
struct Side {
  int inner = 0;
  int outer = 0;

  void take(int distance) {
    inner = outer == 0 ? distance : std::min(inner, distance);
    outer = std::max(outer, distance);
  }
};

// Groups of `size` places that lie together, counted from 1 at zero outwards.
int group_of(int distance, int size) {
  return (distance - 1) / size + 1;
}

// The bins of a matrix: the negative groups from the outermost inwards, then the positive ones outwards. What lies
// between the innermost ones is empty, and left out.
struct Bins {
  Side negative;
  Side positive;
  int size = 1;  // places a bin

  int count_of(const Side& side) const {
    return side.outer == 0 ? 0 : group_of(side.outer, size) - group_of(side.inner, size) + 1;
  }
  int count() const { return count_of(negative) + count_of(positive); }
  int index_of(int place) const {
    if (place < 0) return group_of(negative.outer, size) - group_of(-place, size);
    return count_of(negative) + group_of(place, size) - group_of(positive.inner, size);
  }
};

Bins bins_for(const NumbersOverSteps& over, int most) {
  Bins bins;
  for (const auto& numbers : over.numbers) {
    for (const Histogram::Bin& bin : numbers->histogram.bins) {
      const int place = place_of(bin.index);
      if (place != 0) (place < 0 ? bins.negative : bins.positive).take(std::abs(place));
    }
  }
  while (bins.count() > std::max(most, 2)) ++bins.size;
  return bins;
}

void add_edges(HistogramMatrix& matrix, const Bins& bins) {
  const auto outermost = [&](int group) { return std::min(group * bins.size, kNegative - 1); };
  const auto innermost = [&](int group) { return (group - 1) * bins.size + 1; };
  const Side& negative = bins.negative;
  const Side& positive = bins.positive;
  for (int i = 0; i < bins.count_of(negative); ++i) {
    const int group = group_of(negative.outer, bins.size) - i;
    matrix.lower.push_back(-Histogram::upper_edge(outermost(group)));
    matrix.upper.push_back(-Histogram::lower_edge(innermost(group)));
  }
  for (int i = 0; i < bins.count_of(positive); ++i) {
    const int group = group_of(positive.inner, bins.size) + i;
    matrix.lower.push_back(Histogram::lower_edge(innermost(group)));
    matrix.upper.push_back(Histogram::upper_edge(outermost(group)));
  }
}

void add_step(HistogramMatrix& matrix, const Bins& bins, std::int64_t step, const TensorNumbers& numbers) {
  const std::size_t row = matrix.counts.size();
  matrix.counts.resize(row + static_cast<std::size_t>(bins.count()), 0);
  double at_zero = 0;
  for (const Histogram::Bin& bin : numbers.histogram.bins) {
    const int place = place_of(bin.index);
    if (place == 0) {
      at_zero += static_cast<double>(bin.count);
    } else {
      matrix.counts[row + static_cast<std::size_t>(bins.index_of(place))] += static_cast<double>(bin.count);
    }
  }
  matrix.steps.push_back(step);
  matrix.zeros.push_back(numbers[Number::kZero]);
  matrix.tiny.push_back(at_zero - numbers[Number::kZero]);
  matrix.nans.push_back(numbers[Number::kNan]);
  matrix.positive_infs.push_back(numbers[Number::kPositiveInf]);
  matrix.negative_infs.push_back(numbers[Number::kNegativeInf]);
}

}  // namespace

Result<HistogramSteps> steps_with_histogram(OpenRun::Use& use, std::string_view tensor,
                                            const HistogramQuestion& question, std::chrono::nanoseconds patience) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto presence, tensor_presence(use, tensor));
  auto& memory = use.memory<StatisticsMemory>();
  if (memory.seen.size() > kMostSeen) memory.seen.clear();
  SeenStatistics& seen = memory.seen[{std::string(tensor), question.worker}];
  // From a value or a scalar a histogram is computed.
  const Steps computable = united(presence->steps_in(RecordForm::kValue), presence->steps_in(RecordForm::kScalar));
  const Steps kept_only = without(presence->steps_in(RecordForm::kStatistics), computable);
  HistogramSteps found;
  found.unread = look_into(seen, kept_only, use.trial(), tensor, question.worker, patience);
  found.steps =
      steps_within(*presence, united(computable, seen.with_histogram), question.from, question.to, question.mode);
  const std::size_t numbers = steps_with_numbers(*presence, question.from, question.to, question.mode).size();
  found.without = numbers - std::min(numbers, found.steps.size() + found.unread);
  return found;
}

HistogramMatrix histogram_matrix(const NumbersOverSteps& over, int most_bins) {
  HistogramMatrix matrix;
  const Bins bins = bins_for(over, most_bins);
  add_edges(matrix, bins);
  for (std::size_t i = 0; i < over.steps.size(); ++i) {
    if (over.numbers[i]->has_histogram) add_step(matrix, bins, over.steps[i], *over.numbers[i]);
  }
  return matrix;
}

}  // namespace trainwarden::views
