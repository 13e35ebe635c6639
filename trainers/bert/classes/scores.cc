#include "classes/scores.h"

#include <stdexcept>
#include <string>

namespace bert {

ClassScores::ClassScores(std::size_t classes, std::span<const std::int64_t> actual,
                         std::span<const std::int64_t> predicted)
    : classes_(classes), counts_(classes * classes), actual_(classes), predicted_(classes) {
  if (actual.size() != predicted.size()) {
    throw std::runtime_error("expected a prediction for each label, found " + std::to_string(predicted.size()) +
                             " for " + std::to_string(actual.size()));
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto row = static_cast<std::size_t>(actual[i]), column = static_cast<std::size_t>(predicted[i]);
    if (row >= classes || column >= classes) {
      throw std::runtime_error("expected classes from 0 to " + std::to_string(classes - 1) + ", found " +
                               std::to_string(actual[i]) + " and " + std::to_string(predicted[i]));
    }
    ++counts_[row * classes + column];
    ++actual_[row], ++predicted_[column];
    ++texts_;
  }
}

double ClassScores::accuracy() const {
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < classes_; ++i) hits += count(i, i);
  return texts_ == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(texts_);
}

double ClassScores::mean_recall() const {
  double sum = 0;
  int occurring = 0;
  for (std::size_t i = 0; i < classes_; ++i) {
    if (actual_[i] == 0) continue;
    sum += static_cast<double>(count(i, i)) / static_cast<double>(actual_[i]);
    ++occurring;
  }
  return occurring == 0 ? 0 : sum / occurring;
}

template <class Weight>
double ClassScores::kappa_weighted_by(const Weight& weight) const {
  double observed = 0, expected = 0;
  for (std::size_t i = 0; i < classes_; ++i) {
    for (std::size_t j = 0; j < classes_; ++j) {
      observed += weight(i, j) * static_cast<double>(count(i, j));
      expected += weight(i, j) * static_cast<double>(actual_[i]) * static_cast<double>(predicted_[j]);
    }
  }
  return expected == 0 ? 0 : 1 - observed * static_cast<double>(texts_) / expected;
}

double ClassScores::kappa() const {
  return kappa_weighted_by([](std::size_t i, std::size_t j) { return i == j ? 0.0 : 1.0; });
}

double ClassScores::quadratic_kappa() const {
  return kappa_weighted_by([](std::size_t i, std::size_t j) {
    const double distance = static_cast<double>(i) - static_cast<double>(j);
    return distance * distance;
  });
}

}  // namespace bert
