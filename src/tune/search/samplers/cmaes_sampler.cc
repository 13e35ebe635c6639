#include "tune/search/samplers/cmaes_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tune/search/normal.h"
#include "tune/search/samplers/covariance_evolution.h"
#include "tune/search/samplers/generations.h"
#include "tune/search/samplers/ranking.h"
#include "tune/search/samplers/startup.h"
#include "tune/search/samplers/untried.h"

namespace trainwarden::tune {
namespace {

constexpr double kConverged = 1e-7;
constexpr int kMaxDraws = 100;
constexpr std::size_t kMaxPopulation = 4096;
constexpr std::uint64_t kRestartStream = 0x3a9e000000000000;  // far from those of trials

// Of those that are learnt from.
bool is_in_every_trial(const History& history, std::size_t parameter) {
  return std::none_of(history.trials.begin(), history.trials.end(), [&](const StudyTrial& trial) {
    const bool counts = trial.state == TrialState::kComplete || trial.state == TrialState::kPruned;
    return counts && trial.notes.contains("cmaes") && std::isnan(trial.point[parameter]);
  });
}

std::vector<std::size_t> evolved_parameters(const History& history) {
  const Space& space = history.space;
  std::vector<std::size_t> evolved;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const bool is_line = space[i].is_number() || space[i].ordered;
    const bool is_always_there = !space[i].when && (!space[i].optional || is_in_every_trial(history, i));
    if (is_line && is_always_there && space.count_of(i) != 1) evolved.push_back(i);
  }
  return evolved;
}

// The distribution that the history leads to.
class Evolution {
 public:
  Evolution(const History& history, std::vector<std::size_t> parameters, const CmaesOptions& options)
      : history_(history),
        parameters_(std::move(parameters)),
        population_(population_of(options)),
        deviation_(options.deviation),
        state_(first_mean(), options.deviation, least_deviations()) {}

  void replay(std::int64_t number) {
    for (const std::vector<std::size_t>& members : generations_of(history_, "cmaes", number)) {
      if (members.size() < population_) return;
      std::vector<Eigen::VectorXd> points;
      for (const std::size_t i : best_first(history_, members))
        points.push_back(positions_of(history_.trials[i].point));
      state_.update(points);
      ++generation_;
      if (state_.largest_deviation() < kConverged) restart();
    }
  }

  std::size_t generation() const { return generation_; }

  Result<Point> draw(Random& random) const {
    Point point;
    for (int i = 0; i < kMaxDraws; ++i) {
      const Eigen::VectorXd positions = state_.draw(random);
      point = point_at(positions, random);
      const bool is_inside = (positions.array() >= 0).all() && (positions.array() <= 1).all();
      if (is_inside && history_.space.meets_constraints(point)) return point;
    }
    if (history_.space.meets_constraints(point)) return point;
    return random_point(history_.space, random);
  }

 private:
  Eigen::Index dimensions() const { return static_cast<Eigen::Index>(parameters_.size()); }

  std::size_t population_of(const CmaesOptions& options) const {
    const auto usual = 4 + std::floor(3 * std::log(static_cast<double>(parameters_.size())));
    return std::max<std::size_t>(options.population > 0 ? options.population : static_cast<std::size_t>(usual), 4);
  }

  Eigen::VectorXd positions_of(const Point& point) const {
    Eigen::VectorXd positions(dimensions());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      positions[static_cast<Eigen::Index>(i)] = history_.space.to_unit(parameters_[i], point[parameters_[i]]);
    }
    return positions;
  }

  // The best feasible trial of the studies that this one starts from.
  const StudyTrial* best_of_others() const {
    const std::vector<std::size_t> objectives = history_.objectives();
    const StudyTrial* best = nullptr;
    for (const StudyTrial& trial : history_.trials) {
      if (trial.number >= 0 || objectives.empty() || !is_feasible(history_, trial)) continue;
      const auto cost = [&](const StudyTrial& one) {
        return history_.metrics[objectives[0]].cost(one.values[objectives[0]]);
      };
      if (best == nullptr || cost(trial) < cost(*best)) best = &trial;
    }
    return best;
  }

  Eigen::VectorXd first_mean() const {
    if (const auto first = first_point(history_.space)) return positions_of(*first);
    const StudyTrial* const known = best_of_others();
    return known != nullptr ? positions_of(known->point) : Eigen::VectorXd::Constant(dimensions(), 0.5);
  }

  // From the middle of an interval of width w, a normal distribution of deviation s leaves it with the probability
  // 2 cdf(-w / 2s).
  Eigen::VectorXd least_deviations() const {
    const double leaving = 1 / static_cast<double>(parameters_.size() * population_);
    Eigen::VectorXd least = Eigen::VectorXd::Zero(dimensions());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto count = static_cast<double>(history_.space.count_of(parameters_[i]));
      if (count > 0) least[static_cast<Eigen::Index>(i)] = 0.5 / count / -normal_quantile(leaving / 2);
    }
    return least;
  }

  void restart() {
    Random random(history_.seed, kRestartStream + generation_);
    Eigen::VectorXd mean(dimensions());
    for (double& each : mean) each = random.uniform();
    population_ = std::min(2 * population_, kMaxPopulation);
    state_ = CovarianceEvolution(std::move(mean), deviation_, least_deviations());
  }

  Point point_at(const Eigen::VectorXd& positions, Random& random) const {
    const Space& space = history_.space;
    Point point(space.size(), std::numeric_limits<double>::quiet_NaN());
    std::size_t next = 0;
    for (std::size_t i = 0; i < space.size(); ++i) {
      const double by_chance = random.uniform();
      const bool is_evolved = next < parameters_.size() && parameters_[next] == i;
      const double unit = is_evolved ? positions[static_cast<Eigen::Index>(next++)] : by_chance;
      if (space.is_active(point, i)) point[i] = space.from_unit(i, unit);
    }
    return point;
  }

  const History& history_;
  std::vector<std::size_t> parameters_;
  std::size_t population_;
  double deviation_;
  CovarianceEvolution state_;
  std::size_t generation_ = 0;
};

class CmaesSampler final : public TrialSampler {
 public:
  explicit CmaesSampler(const CmaesOptions& options) : options_(options) {}
  std::string_view name() const override { return "cmaes"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    if (history.objectives().size() > 1) {
      return Status(Code::kFailedPrecondition, "cmaes has one objective: use nsga2 or tpe for several");
    }
    std::vector<std::size_t> parameters = evolved_parameters(history);
    if (parameters.empty()) {
      return Status(Code::kFailedPrecondition, "cmaes needs a number that is always active and not fixed: use tpe");
    }
    Random random = random_of(history, number);
    Evolution evolution(history, std::move(parameters), options_);
    evolution.replay(number);
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, untried_point(history, number, random, [&]() -> Result<Point> {
                                   if (auto first = number == 0 ? first_point(history.space) : std::nullopt)
                                     return *std::move(first);
                                   return evolution.draw(random);
                                 }));
    return Suggestion{std::move(point), {{"cmaes", static_cast<double>(evolution.generation())}}};
  }

 private:
  CmaesOptions options_;
};

}  // namespace

std::unique_ptr<TrialSampler> make_cmaes_sampler(const CmaesOptions& options) {
  return std::make_unique<CmaesSampler>(options);
}

}  // namespace trainwarden::tune
