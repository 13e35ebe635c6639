#include "tune/search/samplers/tpe_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tune/search/samplers/kernel_mixture.h"
#include "tune/search/samplers/parameter_groups.h"
#include "tune/search/samplers/ranking.h"
#include "tune/search/samplers/startup.h"
#include "tune/search/samplers/untried.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kMaxBelow = 25;
constexpr std::size_t kMinTpeCandidates = 24, kMaxTpeCandidates = 100, kMaxCompared = 24'000;
constexpr int kMaxRounds = 20;  // of candidates, all of which missed a constraint

// Indices of trials, in their order.
struct TrialSplit {
  std::vector<std::size_t> below, above;
};

std::vector<std::size_t> finished_trials(const History& history, std::int64_t number) {
  std::vector<std::size_t> finished;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    const bool is_finished = trial.state == TrialState::kComplete || trial.counts_by_last_value();
    if (is_finished && trial.number != number && trial.point.size() == history.space.size()) finished.push_back(i);
  }
  return finished;
}

TrialSplit split_trials(const History& history, std::int64_t number, const std::vector<std::size_t>& finished) {
  std::size_t count = (finished.size() + 9) / 10;
  if (history.objectives().size() <= 1) count = std::min(count, kMaxBelow);
  std::vector<bool> is_below(history.trials.size(), false);
  for (const std::size_t i : best_first(history, finished, count)) is_below[i] = true;
  TrialSplit split;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    if (trial.number == number || trial.point.size() != history.space.size()) continue;
    (is_below[i] ? split.below : split.above).push_back(i);
  }
  return split;
}

// l and g of one group of parameters.
struct GroupDensities {
  KernelMixture below, above;
};

KernelMixture mixture_of(const History& history, const std::vector<std::size_t>& group,
                         const std::vector<std::size_t>& trials, bool by_age, double prior_weight) {
  std::vector<const Point*> points;
  points.reserve(trials.size());
  for (const std::size_t i : trials) {
    const Point& point = history.trials[i].point;
    const bool has_all =
        std::none_of(group.begin(), group.end(), [&](std::size_t each) { return std::isnan(point[each]); });
    if (has_all) points.push_back(&point);
  }
  const std::vector<double> weights = by_age ? weights_by_age(points.size()) : std::vector<double>(points.size(), 1);
  return KernelMixture(history.space, group, points, weights, prior_weight);
}

// What has been learnt for one suggestion, and draws from it.
class TpeModel {
 public:
  TpeModel(const History& history, TrialSplit split, const TpeOptions& options)
      : history_(history),
        split_(std::move(split)),
        options_(options),
        groups_(parameter_groups(history, options.multivariate)),
        decided_at_(groups_of_constraints(history.space, groups_)),
        densities_(groups_.size()) {
    if (options_.candidates == 0) options_.candidates = candidates_for(history);
  }

  Result<Point> draw(Random& random) {
    for (int round = 0; round < kMaxRounds; ++round) {
      Point point(history_.space.size(), std::numeric_limits<double>::quiet_NaN());
      bool is_whole = true;
      for (std::size_t group = 0; group < groups_.size() && is_whole; ++group) {
        if (history_.space.is_active(point, groups_[group][0])) is_whole = draw_group(group, point, random);
      }
      if (is_whole && history_.space.meets_constraints(point)) return point;
    }
    return random_point(history_.space, random);
  }

 private:
  // The best candidate; false: all missed a constraint.
  bool draw_group(std::size_t group, Point& point, Random& random) {
    const GroupDensities& densities = densities_of(group);
    Point candidate = point, best;
    double best_gain = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < options_.candidates; ++i) {
      densities.below.draw(random, candidate);
      if (misses_constraint(group, candidate)) continue;
      const double gain = densities.below.log_density(candidate) - densities.above.log_density(candidate);
      if (best.empty() || gain > best_gain) best_gain = gain, best = candidate;
    }
    if (best.empty()) return false;
    point = best;
    return true;
  }

  bool misses_constraint(std::size_t group, const Point& point) const {
    const auto& constraints = history_.space.constraints();
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      if (decided_at_[i] == group && !history_.space.meets_constraint(constraints[i], point)) return true;
    }
    return false;
  }

  const GroupDensities& densities_of(std::size_t group) {
    if (!densities_[group]) {
      const bool by_age = history_.objectives().size() <= 1;
      densities_[group] =
          GroupDensities{mixture_of(history_, groups_[group], split_.below, by_age, options_.prior_weight),
                         mixture_of(history_, groups_[group], split_.above, true, options_.prior_weight)};
    }
    return *densities_[group];
  }

  // Where there are few points a hundred draws hold nearly all that l allows, and that which g knows least of always
  // wins, however little l thinks of it.
  static std::size_t candidates_for(const History& history) {
    if (history.space.count() > 0) return kMinTpeCandidates;
    const std::size_t trials = std::max<std::size_t>(history.trials.size(), 1);
    return std::clamp(kMaxCompared / trials, kMinTpeCandidates, kMaxTpeCandidates);
  }

  const History& history_;
  TrialSplit split_;
  TpeOptions options_;
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<std::size_t> decided_at_;
  std::vector<std::optional<GroupDensities>> densities_;
};

class TpeSampler final : public TrialSampler {
 public:
  explicit TpeSampler(const TpeOptions& options) : options_(options) {}
  std::string_view name() const override { return "tpe"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    Random random = random_of(history, number);
    const std::vector<std::size_t> finished = finished_trials(history, number);
    std::optional<TpeModel> model;
    const bool is_first = number == 0 && first_point(history.space);  // also where another study is known
    if (finished.size() >= options_.startup && !is_first)
      model.emplace(history, split_trials(history, number, finished), options_);
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, untried_point(history, number, random, [&] {
                                   return model ? model->draw(random) : startup_point(history.space, number, random);
                                 }));
    return Suggestion{std::move(point), {}};
  }

 private:
  TpeOptions options_;
};

}  // namespace

std::unique_ptr<TrialSampler> make_tpe_sampler(const TpeOptions& options) {
  return std::make_unique<TpeSampler>(options);
}

}  // namespace trainwarden::tune
