#include "tune/search/gp/regret_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tune/search/gp/acquisition_search.h"
#include "tune/search/gp/kernel_fit.h"
#include "tune/search/gp/observations.h"
#include "tune/search/gp/target_warp.h"
#include "tune/search/samplers/auto_sampler.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr std::size_t kMinRegretTrials = 10;
constexpr std::uint64_t kRegretStream = 0x7265677265740000;  // far from those of trials
constexpr double kDoubt = 0.1;                               // that the bound does not hold
constexpr AcquisitionSearchOptions kBoundSearch = {.candidates = 512, .starts = 2};
constexpr int kHalvingsOfCost = 100;

std::size_t complete_of_this_study(const History& history) {
  return static_cast<std::size_t>(
      std::count_if(history.trials.begin(), history.trials.end(), [](const StudyTrial& trial) {
        return trial.number >= 0 && trial.state == TrialState::kComplete && !trial.is_repeat;
      }));
}

double width_of_bounds(std::size_t dimensions, std::size_t observations) {
  const auto n = static_cast<double>(observations);
  const double inside = static_cast<double>(dimensions) * n * n * std::numbers::pi * std::numbers::pi / (6 * kDoubt);
  return std::sqrt(0.4 * std::log(inside));
}

// How far below 0 a cost may lie; larger is better.
class LowerBoundTerm : public AcquisitionTerm {
 public:
  LowerBoundTerm(GpPosterior posterior, double width) : AcquisitionTerm({std::move(posterior)}), width_(width) {}

 protected:
  double of_moments(std::span<const GpMoments> moments, std::span<GpMoments> derivatives) const override {
    derivatives[0].means[0] = -1;
    derivatives[0].deviation = width_;
    return width_ * moments[0].deviation - moments[0].means[0];
  }

 private:
  double width_;
};

// The cost that is warped to this target: the warp rises, and goes on as a line on both sides.
double cost_at(const TargetWarp& warp, double target, double least, double most) {
  double reach = most - least, low = least, high = most;
  for (int i = 0; i < kHalvingsOfCost && warp(low) > target; ++i) low -= reach, reach *= 2;
  reach = most - least;
  for (int i = 0; i < kHalvingsOfCost && warp(high) < target; ++i) high += reach, reach *= 2;
  for (int i = 0; i < kHalvingsOfCost; ++i) {
    const double middle = low + (high - low) / 2;
    (warp(middle) < target ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

// The process of one objective, and both ends of the bound as targets.
class RegretModel {
 public:
  RegretModel(const History& history, std::vector<std::size_t> trials, const VectorXd& targets)
      : history_(history),
        trials_(std::move(trials)),
        rows_(rows_of(history, trials_)),
        dimensions_(kernel_dimensions(history.space)),
        parameters_(fit_kernel(dimensions_, rows_, targets, false)),
        posterior_(dimensions_, rows_, targets, parameters_),
        width_(width_of_bounds(history.space.size(), trials_.size())),
        known_(posterior_.at_all(rows_)) {}

  // Of the trials of this study. Infinite: none is feasible.
  double least_upper() const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const StudyTrial& trial = history_.trials[trials_[i]];
      if (trial.number < 0 || !is_feasible(history_, trial)) continue;
      const auto row = static_cast<Index>(i);
      least = std::min(least, known_.means(row, 0) + width_ * known_.deviations[row]);
    }
    return least;
  }

  double least_lower() const {
    const double among_known = (known_.means.col(0) - width_ * known_.deviations).minCoeff();
    GpAcquisition acquisition;
    acquisition.add(std::make_unique<LowerBoundTerm>(posterior_, width_));
    const ExcludedPoints tried(history_, std::numeric_limits<std::int64_t>::min());
    const AcquisitionProblem problem{history_.space, acquisition, tried, parameters_.weights, {best_known()}};
    Random random(history_.seed, kRegretStream + trials_.size());
    const auto point = search_acquisition(problem, kBoundSearch, random);
    if (!point.ok()) return among_known;  // all points have been tried
    const GpMoments there = posterior_.at(positions_of(history_.space, *point)).moments;
    return std::min(among_known, there.means[0] - width_ * there.deviation);
  }

 private:
  Point best_known() const {
    Index row = 0;
    known_.means.col(0).minCoeff(&row);
    return history_.trials[trials_[static_cast<std::size_t>(row)]].point;
  }

  const History& history_;
  std::vector<std::size_t> trials_;
  MatrixXd rows_;
  std::vector<KernelDimension> dimensions_;
  KernelParameters parameters_;
  GpPosterior posterior_;
  double width_;
  GpPosterior::Many known_;
};

}  // namespace

std::string why_regret_is_unknown(const Space& space, const std::vector<StudyMetric>& metrics) {
  const History empty{.space = space, .metrics = metrics};
  const SamplerChoice choice = choose_sampler(empty);
  return choice.name == "gp" ? std::string() : choice.why;
}

bool is_regret_due(const History& history) {
  const std::size_t complete = complete_of_this_study(history);
  return complete >= std::max(kMinRegretTrials, 2 * history.space.size()) &&
         complete % static_cast<std::size_t>(kRegretInterval) == 0;
}

std::optional<double> regret_bound(const History& history) {
  std::vector<std::size_t> trials = observed_trials(history, kMaxRegretObservations);
  const std::vector<double> costs = observed_costs(history, trials, history.objectives().front());
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double cost : costs) {
    if (!std::isfinite(cost)) continue;
    least = std::min(least, cost);
    most = std::max(most, cost);
  }
  if (!(least < most)) return std::nullopt;
  const TargetWarp warp(costs);
  VectorXd targets(static_cast<Index>(costs.size()));
  for (std::size_t i = 0; i < costs.size(); ++i) targets[static_cast<Index>(i)] = warp(costs[i]);
  const RegretModel model(history, std::move(trials), targets);
  const double upper = model.least_upper();
  if (!std::isfinite(upper)) return std::nullopt;
  const double lower = std::min(model.least_lower(), upper);
  return cost_at(warp, upper, least, most) - cost_at(warp, lower, least, most);
}

}  // namespace trainwarden::tune
