// CollapseWatch: a classifier that predicted several classes, and then for long only one.
#pragma once

#include <cstdint>
#include <deque>

#include "judge/rules/builtin/data/class_labels.h"

namespace trainwarden::rules {

class CollapseWatch {
 public:
  static constexpr double kLeastPredictedShare = 0.99;  // of the one class, for a collapse
  static constexpr double kMostDiverseShare = 0.9;      // of the commonest, for predictions that tell classes apart
  static constexpr double kMostLabelShare = 0.6;        // of the commonest, for labels that ask for several
  static constexpr double kLeastDecrease = 0.01;        // of the loss, relative: it still learns
  static constexpr std::int64_t kLeastDiverse = 3;      // steps

  explicit CollapseWatch(std::int64_t patience) : patience_(patience) {}

  // A step's labels and predictions, as many and not empty, and its loss. A step whose labels are mostly of one class
  // says nothing.
  void add(const Classes& actual, const Classes& predicted, double loss);

  bool is_collapsed() const;
  std::int64_t predicted_class() const { return class_; }
  double predicted_share() const { return share_; }  // at the last step
  double loss_decrease() const;  // of the second half of the collapse over the first, relative to the first

 private:
  const std::int64_t patience_;
  std::int64_t diverse_ = 0;  // steps before the collapse
  std::int64_t class_ = -1;
  double share_ = 0;
  std::deque<double> losses_;  // of the collapse so far, at most patience_
};

}  // namespace trainwarden::rules
