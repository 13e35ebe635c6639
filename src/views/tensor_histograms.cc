#include "views/tensor_histograms.h"

#include <algorithm>
#include <cstdlib>

namespace trainwarden::views {
namespace {

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

HistogramMatrix histogram_matrix(const NumbersOverSteps& over, int most_bins) {
  HistogramMatrix matrix;
  const Bins bins = bins_for(over, most_bins);
  add_edges(matrix, bins);
  for (std::size_t i = 0; i < over.steps.size(); ++i) {
    if (over.numbers[i]->has_histogram) {
      add_step(matrix, bins, over.steps[i], *over.numbers[i]);
    } else {
      ++matrix.without;
    }
  }
  return matrix;
}

}  // namespace trainwarden::views
