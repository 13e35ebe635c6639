// LabelOrder: are the labels that follow each other alike more often than chance has it?
//
// Of labels in random order two neighbours are alike with probability s = Σ p_c², p_c being the share of class c in all
// labels so far. Excess of an observed share a of alike neighbours: (a - s) / (1 - s), 0 when shuffled, 1 when sorted.
// It is significant when a is more than kLeastDeviations standard deviations, √(s (1 - s) / n), above s.
//
// Neighbours within a batch and across two batches are counted apart: a sampler that draws several samples of a class
// for each batch makes those within alike, the two losses of a GAN get one class each; but then the last label of a
// batch and the first of the next differ. Only in an unshuffled data set are both alike.
#pragma once

#include <cstdint>
#include <map>

#include "judge/rules/builtin/data/class_labels.h"

namespace trainwarden::rules {

class LabelOrder {
 public:
  static constexpr std::size_t kMostClasses = 1000;  // more are no classes
  static constexpr double kLeastDeviations = 6;
  static constexpr std::int64_t kLeastPairs = 20;  // within batches, before they count (not with batches of one)

  // The labels of the next batch, in their order.
  void add(const Classes& labels);

  std::int64_t batches() const { return batches_; }
  std::size_t classes() const { return counts_.size(); }
  double chance() const;  // s
  double within() const { return within_.share(); }
  double across() const { return across_.share(); }
  // Both excesses are above `threshold` and significant.
  bool is_ordered(double threshold) const;

 private:
  struct Pairs {
    std::int64_t alike = 0;
    std::int64_t all = 0;
    double share() const { return all == 0 ? 0 : static_cast<double>(alike) / static_cast<double>(all); }
  };
  bool exceeds(const Pairs& pairs, double threshold) const;

  std::map<std::int64_t, std::int64_t> counts_;  // at most kMostClasses + the classes of a batch
  std::int64_t total_ = 0;
  std::int64_t batches_ = 0;
  Pairs within_;
  Pairs across_;
  Classes last_;  // the batch before
};

}  // namespace trainwarden::rules
