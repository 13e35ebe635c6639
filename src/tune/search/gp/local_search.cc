#include "tune/search/gp/local_search.h"

#include <algorithm>
#include <cmath>

#include "tune/search/gp/bounded_descent.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::RowVectorXd, Eigen::VectorXd;

constexpr int kMaxLocalRounds = 10;
constexpr double kMinGain = 1e-4;  // of the logarithm of what is gained
constexpr std::uint64_t kAllValues = 16;
constexpr int kHalvings = 20;
constexpr DescentLimits kContinuousLimits = {40, 1e-4, 1e-4};

class LocalSearch {
 public:
  LocalSearch(const AcquisitionProblem& problem, ScoredPoint start)
      : problem_(problem), space_(problem.space), best_(std::move(start)) {}

  ScoredPoint run() {
    for (int round = 0; round < kMaxLocalRounds; ++round) {
      const double before = best_.score;
      improve_continuous();
      if (!improve_discrete() || best_.score - before < kMinGain) break;
    }
    return best_;
  }

 private:
  // Those that are active and have a continuum of values.
  std::vector<Index> continuous() const {
    std::vector<Index> dimensions;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      if (space_.count_of(i) == 0 && !std::isnan(best_.point[i])) dimensions.push_back(static_cast<Index>(i));
    }
    return dimensions;
  }

  void improve_continuous() {
    const std::vector<Index> dimensions = continuous();
    if (dimensions.empty()) return;
    // In units of the length scales, so that no direction is much steeper than others.
    const VectorXd units = problem_.weights(dimensions).cwiseSqrt().cwiseMax(0.1);
    RowVectorXd row = positions_of(space_, best_.point);
    VectorXd by_row;
    const SmoothFunction loss = [&](const VectorXd& at, VectorXd& gradient) {
      row(dimensions) = at.cwiseQuotient(units).transpose();
      const double value = problem_.acquisition.of(row, by_row);
      gradient = -by_row(dimensions).cwiseQuotient(units);
      return -value;
    };
    const VectorXd start = row(dimensions).transpose().cwiseProduct(units);
    const DescentEnd end = minimise_in_box(loss, start, VectorXd::Zero(start.size()), units, kContinuousLimits);
    const VectorXd from = start.cwiseQuotient(units), to = end.at.cwiseQuotient(units);
    take_part_of_step(dimensions, from, to);
  }

  // The whole step, or as much of it as the constraints between parameters allow.
  void take_part_of_step(const std::vector<Index>& dimensions, const VectorXd& from, const VectorXd& to) {
    double allowed = 0, refused = 2;
    Point point = best_.point;
    for (int i = 0; i < kHalvings && allowed < 1; ++i) {
      const double part = std::min(1.0, (allowed + refused) / 2);
      const VectorXd at = from + part * (to - from);
      for (std::size_t j = 0; j < dimensions.size(); ++j) {
        const auto dimension = static_cast<std::size_t>(dimensions[j]);
        point[dimension] = space_.from_unit(dimension, at[static_cast<Index>(j)]);
      }
      if (space_.meets_constraints(point)) {
        allowed = part;
        take_if_better(point);
      } else {
        refused = part;
      }
    }
  }

  // Whether there are any discrete parameters.
  bool improve_discrete() {
    bool has_any = false;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      if (space_.count_of(i) < 2 || std::isnan(best_.point[i])) continue;
      has_any = true;
      if (space_.count_of(i) <= kAllValues || !is_ordered(i)) {
        try_all_values(i);
      } else {
        walk_along(i);
      }
    }
    return has_any;
  }

  bool is_ordered(std::size_t i) const { return space_[i].is_number() || space_[i].ordered; }

  double value_of(std::size_t i, std::uint64_t k) const {
    return space_.from_unit(i, (static_cast<double>(k) + 0.5) / static_cast<double>(space_.count_of(i)));
  }

  void try_all_values(std::size_t i) {
    const Point at = best_.point;
    for (std::uint64_t k = 0; k < std::min<std::uint64_t>(space_.count_of(i), kMaxChoices); ++k) {
      try_value(at, i, value_of(i, k));
    }
  }

  // Both ways, in steps of the position that halve until they are shorter than a value is wide.
  void walk_along(std::size_t i) {
    const double least = 0.5 / static_cast<double>(space_.count_of(i));
    for (double step = 0.25; step >= least; step /= 2) {
      const Point at = best_.point;
      const double unit = space_.to_unit(i, at[i]);
      for (const double next : {unit - step, unit + step}) try_value(at, i, space_.from_unit(i, next));
    }
  }

  // What the value makes active begins in the middle of its range.
  void try_value(Point point, std::size_t i, double value) {
    if (point[i] == value) return;
    point[i] = value;
    space_.settle(point);
    if (space_.meets_constraints(point)) take_if_better(point);
  }

  void take_if_better(const Point& point) {
    if (problem_.tried.excludes(point)) return;
    const double score = problem_.acquisition.of(positions_of(space_, point), gradient_);
    if (score > best_.score) best_ = {point, score};
  }

  const AcquisitionProblem& problem_;
  const Space& space_;
  ScoredPoint best_;
  VectorXd gradient_;
};

}  // namespace

ScoredPoint search_near(const AcquisitionProblem& problem, ScoredPoint start) {
  return LocalSearch(problem, std::move(start)).run();
}

}  // namespace trainwarden::tune
