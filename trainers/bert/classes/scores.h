// How right a classifier is, counted from labels and what was taken for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bert {

class ClassScores {
 public:
  // Numbers of classes below `classes`, of the same texts; others throw std::runtime_error, as do lists of different
  // lengths.
  ClassScores(std::size_t classes, std::span<const std::int64_t> actual, std::span<const std::int64_t> predicted);

  std::int64_t count(std::size_t actual, std::size_t predicted) const { return counts_[actual * classes_ + predicted]; }
  std::int64_t texts() const { return texts_; }
  // Each is 0 without texts.
  double accuracy() const;
  double mean_recall() const;  // over the classes that occur, each counting as much: "balanced accuracy"
  // Agreement beyond chance, 1 - observed / expected disagreement, of which each counts 1 (Cohen 1960, "A coefficient
  // of agreement for nominal scales"); 0 where chance already agrees.
  double kappa() const;
  // The same for classes in an order, where a disagreement counts (i - j)² (Cohen 1968, "Weighted kappa").
  double quadratic_kappa() const;

 private:
  template <class Weight>
  double kappa_weighted_by(const Weight& weight) const;

  std::size_t classes_;
  std::int64_t texts_ = 0;
  std::vector<std::int64_t> counts_;              // row by row: those of an actual class
  std::vector<std::int64_t> actual_, predicted_;  // sums of rows, of columns
};

}  // namespace bert
