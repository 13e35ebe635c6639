#include "views/tensor_histograms.h"

#include <algorithm>

namespace trainwarden::views {
namespace {

constexpr int kNegative = Histogram::kBinCount / 2;

// Bins on one line: ..., -2, -1 for the negative ones from large to small, 1, 2, ... for the positive ones. 0 holds
// zeros and what is too small.
int place_of(int bin) {
  return bin < kNegative ? bin : kNegative - bin;
}

double lower_of(int place) {
  return place > 0 ? Histogram::lower_edge(place) : -Histogram::upper_edge(-place);
}
double upper_of(int place) {
  return place > 0 ? Histogram::upper_edge(place) : -Histogram::lower_edge(-place);
}

struct Places {
  int lowest = 0;
  int highest = 0;
  bool any = false;
};

Places used_places(const NumbersOverSteps& over) {
  Places used;
  for (const auto& numbers : over.numbers) {
    for (const Histogram::Bin& bin : numbers->histogram.bins) {
      const int place = place_of(bin.index);
      if (place == 0) continue;
      used.lowest = used.any ? std::min(used.lowest, place) : place;
      used.highest = used.any ? std::max(used.highest, place) : place;
      used.any = true;
    }
  }
  return used;
}

// Groups of `size` places that lie together, from zero outwards.
int group_of(int place, int size) {
  return place > 0 ? (place - 1) / size + 1 : -((-place - 1) / size + 1);
}

struct Bins {
  int size = 1;  // places a bin
  int lowest = 1;
  int highest = 0;
  int count() const { return std::max(highest - lowest + (lowest < 0 && highest > 0 ? 0 : 1), 0); }
  int index_of(int group) const { return group - lowest - (lowest < 0 && group > 0 ? 1 : 0); }
};

Bins bins_for(const Places& used, int most) {
  Bins bins;
  if (!used.any) return bins;
  for (;; ++bins.size) {
    bins.lowest = group_of(used.lowest, bins.size);
    bins.highest = group_of(used.highest, bins.size);
    if (bins.count() <= std::max(most, 2)) return bins;
  }
}

void add_edges(HistogramMatrix& matrix, const Bins& bins) {
  for (int group = bins.lowest; group <= bins.highest; ++group) {
    if (group == 0) continue;
    const int inner = (std::abs(group) - 1) * bins.size + 1;
    const int outer = std::min(std::abs(group) * bins.size, kNegative - 1);
    matrix.lower.push_back(group > 0 ? lower_of(inner) : lower_of(-outer));
    matrix.upper.push_back(group > 0 ? upper_of(outer) : upper_of(-inner));
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
      matrix.counts[row + static_cast<std::size_t>(bins.index_of(group_of(place, bins.size)))] +=
          static_cast<double>(bin.count);
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
  const Bins bins = bins_for(used_places(over), most_bins);
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
