// Class weights: what the loss multiplies each class with. Do they even rare classes out, or are they turned around?
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {
namespace {

constexpr double kMinRatio = 3;          // of the most frequent class to the rarest, for weights to have a reason
constexpr double kMinWeightRatio = 2;    // for them to differ by intention
constexpr double kMinCorrelation = 0.8;  // of logarithms of weights and frequencies; even classes have -1
constexpr double kRare = 0.25;           // a share of ones
constexpr double kSmallWeight = 0.6;

// What diverges does so for another reason.
double how_sure_of_weights(const Case& seen) {
  return seen.symptoms.has_diverged ? 0.5 : 0.85;
}

struct WeightedClasses {
  Values weights, counts;  // of those that were seen
};

WeightedClasses weighted_classes(const Case& seen) {
  Values sums, weights;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* labels = snapshot.find("labels");
    const Values* each = snapshot.find("class_weights");
    if (labels == nullptr || each == nullptr || labels->size() != each->size()) continue;
    if (sums.size() != labels->size()) sums.assign(labels->size(), 0);
    for (std::size_t i = 0; i < labels->size(); ++i) sums[i] += (*labels)[i];
    weights = *each;
  }
  WeightedClasses found;
  for (std::size_t i = 0; i < std::min(sums.size(), weights.size()); ++i) {
    if (!(sums[i] > 0) || !(weights[i] > 0)) continue;
    found.counts.push_back(sums[i]);
    found.weights.push_back(weights[i]);
  }
  return found;
}

double ratio_in(const Values& values) {
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return *max / *min;
}

double correlation_of_logarithms(const Values& a, const Values& b) {
  double mean_a = 0, mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += std::log(a[i]) / static_cast<double>(a.size());
    mean_b += std::log(b[i]) / static_cast<double>(a.size());
  }
  double both = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = std::log(a[i]) - mean_a, y = std::log(b[i]) - mean_b;
    both += x * y;
    square_a += x * x;
    square_b += y * y;
  }
  return both / std::sqrt(square_a * square_b);
}

void look_at_classes(const Case& seen, Findings& findings) {
  const WeightedClasses classes = weighted_classes(seen);
  if (classes.counts.size() < 2 || !(ratio_in(classes.counts) > kMinRatio) ||
      !(ratio_in(classes.weights) > kMinWeightRatio) ||
      !(correlation_of_logarithms(classes.weights, classes.counts) > kMinCorrelation))
    return;
  const auto rarest = std::min_element(classes.counts.begin(), classes.counts.end()) - classes.counts.begin();
  findings.push_back(
      {"class_imbalance",
       how_sure_of_weights(seen),
       "The weights of the classes are turned around: rare classes count less in the loss, not more",
       {fmt::format("the most frequent class has {:.1f} times the labels of the rarest, and the weights go with that",
                    ratio_in(classes.counts)),
        fmt::format("the rarest class weighs {:.3g}, the heaviest {:.3g}", classes.weights[rarest],
                    *std::max_element(classes.weights.begin(), classes.weights.end()))},
       {},
       0,
       seen.place("loss")});
}

// Of several columns, the half of them.
void look_at_positives(const Case& seen, Findings& findings) {
  std::size_t columns = 0, turned = 0;
  double share = 0, weight = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* means = snapshot.find("target_mean");
    const Values* weights = snapshot.find("positive_weight");
    if (means == nullptr || weights == nullptr || means->size() != weights->size() || means->empty()) continue;
    for (std::size_t i = 0; i < means->size(); ++i) {
      const double ones = (*means)[i], ours = (*weights)[i];
      const bool is_rare = ones < kRare && ours<kSmallWeight, is_usual = ones> 1 - kRare && ours > 1 / kSmallWeight;
      ++columns;
      if (!is_rare && !is_usual) continue;
      ++turned;
      share = ones;
      weight = ours;
    }
  }
  if (columns == 0 || 2 * turned <= columns) return;
  findings.push_back({"class_imbalance",
                      how_sure_of_weights(seen),
                      "The weight of the positive samples is turned around: it makes what is rare count less",
                      {fmt::format("{:.1f} % of the targets are 1, and pos_weight is {:.3g}", 100 * share, weight)},
                      {},
                      0,
                      seen.place("loss")});
}

}  // namespace

void look_at_class_weights(const Case& seen, Findings& findings) {
  look_at_classes(seen, findings);
  look_at_positives(seen, findings);
}

}  // namespace trainwarden::diagnosis
