#include "tune/search/gp/study_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "tune/search/gp/kernel_fit.h"
#include "tune/search/gp/observations.h"
#include "tune/search/gp/target_warp.h"
#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr Index kFantasies = 64;
constexpr std::size_t kMaxHypervolume = 3;  // objectives; the number of boxes grows with a power of the front's size
constexpr std::size_t kMaxFront = 40;
constexpr double kBeyondWorst = 0.1;
constexpr double kChebyshevSum = 0.05;
constexpr std::size_t kMaxIncumbents = 4;

bool are_same(const MatrixXd& one, const MatrixXd& other) {
  if (one.rows() != other.rows() || one.cols() != other.cols()) return false;
  return ((one.array() == other.array()) || (one.array().isNaN() && other.array().isNaN())).all();
}

// A row for each draw, standard normal: each row has one value from each of as many equal parts of the distribution.
MatrixXd latin_normals(Index rows, Index columns, Random& random) {
  MatrixXd normals(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < columns; ++k) {
      normals(i, k) = normal_quantile((static_cast<double>(k) + random.uniform()) / static_cast<double>(columns));
      std::swap(normals(i, k), normals(i, static_cast<Index>(random.below(static_cast<std::uint64_t>(k + 1)))));
    }
  }
  return normals;
}

class StudyModeller {
 public:
  StudyModeller(const History& history, std::int64_t number, bool is_deterministic, KernelFits& fits, Random& random)
      : history_(history),
        is_deterministic_(is_deterministic),
        fits_(fits),
        random_(random),
        dimensions_(kernel_dimensions(history.space)),
        trials_(observed_trials(history)),
        rows_(rows_of(history, trials_)),
        pending_rows_(rows_of(history, pending_trials(history, number))) {
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      if (is_feasible(history_, history_.trials[trials_[i]])) feasible_.push_back(static_cast<Index>(i));
    }
    // Where nothing is required, all were; also those whose cost is not a number, which count as the worst.
    if (feasible_.empty() && history_.constraints().empty()) {
      feasible_.resize(trials_.size());
      std::iota(feasible_.begin(), feasible_.end(), 0);
    }
  }

  StudyModel run() {
    if (feasible_.empty()) {
      add_least_violation();
    } else {
      add_objectives();
    }
    for (const std::size_t metric : history_.constraints()) add_constraint(metric);
    return std::move(model_);
  }

 private:
  GpPosterior posterior(std::size_t metric, const MatrixXd& rows, const VectorXd& targets) {
    const KernelParameters& parameters = fits_.fit(metric, dimensions_, rows, targets, is_deterministic_);
    if (model_.weights.size() == 0) model_.weights = parameters.weights;
    return GpPosterior(dimensions_, rows, targets, parameters);
  }

  GpPosterior with_pending(const GpPosterior& posterior, Index fantasies) {
    if (pending_rows_.rows() == 0) return posterior;
    const MatrixXd normals = fantasies == 1 ? MatrixXd::Zero(pending_rows_.rows(), 1)
                                            : latin_normals(pending_rows_.rows(), fantasies, random_);
    return posterior.with_fantasies(pending_rows_, normals);
  }

  void add_objectives() {
    const std::vector<std::size_t> objectives = history_.objectives();
    if (objectives.empty()) return add_least_violation();
    std::vector<VectorXd> targets;
    std::vector<TargetWarp> warps;
    for (const std::size_t metric : objectives) {
      const std::vector<double> costs = observed_costs(history_, trials_, metric);
      warps.emplace_back(costs);
      targets.push_back(warped(costs, warps.back()));
    }
    if (objectives.size() == 1) {
      add_improvement(objectives[0], targets[0]);
    } else if (objectives.size() <= kMaxHypervolume) {
      add_hypervolume(objectives, targets, warps);
    } else {
      add_improvement(objectives[0], chebyshev(targets));
    }
  }

  static VectorXd warped(const std::vector<double>& costs, const TargetWarp& warp) {
    VectorXd targets(static_cast<Index>(costs.size()));
    for (std::size_t i = 0; i < costs.size(); ++i) targets[static_cast<Index>(i)] = warp(costs[i]);
    return targets;
  }

  // The largest weighted cost and a little of their sum, with weights that are uniform on the simplex.
  VectorXd chebyshev(const std::vector<VectorXd>& targets) {
    VectorXd weights(static_cast<Index>(targets.size()));
    for (double& weight : weights) weight = -std::log(1 - random_.uniform());
    weights /= weights.sum();
    std::vector<double> costs;
    for (Index i = 0; i < rows_.rows(); ++i) {
      double largest = 0, sum = 0;
      for (std::size_t j = 0; j < targets.size(); ++j) {
        const double range = std::max(targets[j].maxCoeff() - targets[j].minCoeff(), 1e-12);
        const double part = weights[static_cast<Index>(j)] * (targets[j][i] - targets[j].minCoeff()) / range;
        largest = std::max(largest, part);
        sum += part;
      }
      costs.push_back(largest + kChebyshevSum * sum);
    }
    return warped(costs, TargetWarp(costs));
  }

  void add_improvement(std::size_t metric, const VectorXd& targets) {
    const GpPosterior known = posterior(metric, rows_, targets);
    name_incumbents(known.own_means().col(0)(feasible_));
    GpPosterior posterior = with_pending(known, kFantasies);
    const MatrixXd means = posterior.own_means();
    VectorXd bounds = means(feasible_, Eigen::all).colwise().minCoeff();
    if (history_.constraints().empty() && pending_rows_.rows() > 0) {
      bounds = bounds.cwiseMin(means.bottomRows(pending_rows_.rows()).colwise().minCoeff().transpose());
    }
    model_.acquisition.add(improvement_term(std::move(posterior), std::move(bounds)));
  }

  // The feasible trials with the least of these costs, which are theirs.
  void name_incumbents(const VectorXd& costs) {
    std::vector<Index> order(static_cast<std::size_t>(costs.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index one, Index other) { return costs[one] < costs[other]; });
    for (std::size_t i = 0; i < std::min(kMaxIncumbents, order.size()); ++i) {
      const Index row = feasible_[static_cast<std::size_t>(order[i])];
      model_.incumbents.push_back(history_.trials[trials_[static_cast<std::size_t>(row)]].point);
    }
  }

  void add_hypervolume(const std::vector<std::size_t>& objectives, const std::vector<VectorXd>& targets,
                       const std::vector<TargetWarp>& warps) {
    const auto count = static_cast<Index>(objectives.size());
    std::vector<GpPosterior> posteriors;
    VectorXd reference(count);
    MatrixXd costs;  // a column for each objective; of the trials, then of those on trial
    for (std::size_t j = 0; j < objectives.size(); ++j) {
      posteriors.push_back(with_pending(posterior(objectives[j], rows_, targets[j]), 1));
      const MatrixXd means = posteriors.back().own_means();
      costs.conservativeResize(means.rows(), count);
      costs.col(static_cast<Index>(j)) = means.col(0);
      const StudyMetric& metric = history_.metrics[objectives[j]];
      const double worst = targets[j].maxCoeff(), range = worst - targets[j].minCoeff();
      reference[static_cast<Index>(j)] =
          metric.threshold ? warps[j](metric.cost(*metric.threshold)) : worst + kBeyondWorst * std::max(range, 1e-3);
    }
    name_front(costs(feasible_, Eigen::all));
    std::vector<Index> counted = feasible_;
    for (Index i = rows_.rows(); history_.constraints().empty() && i < costs.rows(); ++i) counted.push_back(i);
    std::vector<VectorXd> points;
    for (const Index i : counted) points.push_back(costs.row(i));
    model_.acquisition.add(
        hypervolume_term(std::move(posteriors), nondominated_boxes(thinned(std::move(points)), reference)));
  }

  // The front, and of a large one as many as are spread evenly along the first cost.
  static std::vector<VectorXd> thinned(std::vector<VectorXd> points) {
    std::vector<VectorXd> front;
    for (const VectorXd& point : points) {
      const bool is_dominated = std::any_of(points.begin(), points.end(), [&](const VectorXd& other) {
        return (other.array() <= point.array()).all() && (other.array() < point.array()).any();
      });
      if (!is_dominated) front.push_back(point);
    }
    if (front.size() <= kMaxFront) return front;
    std::sort(front.begin(), front.end(), [](const auto& one, const auto& other) { return one[0] < other[0]; });
    std::vector<VectorXd> kept;
    for (std::size_t i = 0; i < kMaxFront; ++i) kept.push_back(front[i * (front.size() - 1) / (kMaxFront - 1)]);
    return kept;
  }

  // Those that are best by sums with weights that go from the first cost to the last.
  void name_front(const MatrixXd& costs) {
    for (Index j = 0; j < costs.cols(); ++j) {
      Index row = 0;
      costs.col(j).minCoeff(&row);
      model_.incumbents.push_back(trial_of_feasible(row));
    }
    Index row = 0;
    costs.rowwise().sum().minCoeff(&row);
    model_.incumbents.push_back(trial_of_feasible(row));
  }
  const Point& trial_of_feasible(Index row) const {
    const Index observed = feasible_[static_cast<std::size_t>(row)];
    return history_.trials[trials_[static_cast<std::size_t>(observed)]].point;
  }

  void add_least_violation() {
    std::optional<std::size_t> least;
    double violation = std::numeric_limits<double>::infinity();
    for (const std::size_t i : trials_) {
      const double each = violation_of(history_, history_.trials[i]);
      if (each < violation) {
        least = i;
        violation = each;
      }
    }
    if (least) model_.incumbents.push_back(history_.trials[*least].point);
  }

  // Of trials that did not say whether they met it nothing is concluded.
  void add_constraint(std::size_t metric) {
    const std::vector<double> all = observed_costs(history_, trials_, metric);
    std::vector<Index> known;
    std::vector<double> costs;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::isnan(all[i])) continue;
      known.push_back(static_cast<Index>(i));
      costs.push_back(all[i]);
    }
    if (known.empty()) return;
    const StudyMetric& constraint = history_.metrics[metric];
    const TargetWarp warp(costs);
    const MatrixXd rows = rows_(known, Eigen::all);
    model_.acquisition.add(feasibility_term(with_pending(posterior(metric, rows, warped(costs, warp)), 1),
                                            warp(constraint.cost(constraint.threshold.value_or(0)))));
  }

  const History& history_;
  bool is_deterministic_;
  KernelFits& fits_;
  Random& random_;
  std::vector<KernelDimension> dimensions_;
  std::vector<std::size_t> trials_;
  MatrixXd rows_, pending_rows_;
  std::vector<Index> feasible_;  // rows
  StudyModel model_;
};

}  // namespace

const KernelParameters& KernelFits::fit(std::size_t metric, const std::vector<KernelDimension>& dimensions,
                                        const MatrixXd& rows, const VectorXd& targets, bool is_deterministic) {
  Entry& entry = entries_[metric];
  if (!are_same(entry.rows, rows) || !are_same(entry.targets, targets)) {
    entry = {rows, targets, fit_kernel(dimensions, rows, targets, is_deterministic)};
  }
  return entry.parameters;
}

StudyModel model_study(const History& history, std::int64_t number, bool is_deterministic, KernelFits& fits,
                       Random& random) {
  return StudyModeller(history, number, is_deterministic, fits, random).run();
}

}  // namespace trainwarden::tune
