#include "tune/search/samplers/nsga2_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tune/search/samplers/generations.h"
#include "tune/search/samplers/ranking.h"
#include "tune/search/samplers/startup.h"
#include "tune/search/samplers/untried.h"

namespace trainwarden::tune {
namespace {

constexpr int kMaxChildren = 100;

// Deb and Agrawal's distribution of the spread of two children about their parents' middle, cut off at [0, 1] by
// clamping. One of the two children.
double crossed(double one, double other, double index, Random& random) {
  const double u = random.uniform();
  const double power = 1 / (index + 1);
  const double spread = u <= 0.5 ? std::pow(2 * u, power) : std::pow(1 / (2 * (1 - u)), power);
  const double side = random.uniform() < 0.5 ? 1 : -1;
  return std::clamp(0.5 * (one + other) + side * 0.5 * spread * (other - one), 0.0, 1.0);
}

// Deb's polynomial mutation within [0, 1].
double mutated(double position, double index, Random& random) {
  const double u = random.uniform();
  const double power = 1 / (index + 1);
  if (u < 0.5) {
    const double rest = 2 * u + (1 - 2 * u) * std::pow(1 - position, index + 1);
    return std::clamp(position + std::pow(rest, power) - 1, 0.0, 1.0);
  }
  const double rest = 2 * (1 - u) + 2 * (u - 0.5) * std::pow(position, index + 1);
  return std::clamp(position + 1 - std::pow(rest, power), 0.0, 1.0);
}

// The parents of the generation that comes next, best first; empty: that is the first one.
struct Nsga2Parents {
  std::vector<std::size_t> trials;
  std::size_t generation = 0;
};

// Of the studies that this one starts from.
std::vector<std::size_t> trials_of_others(const History& history) {
  std::vector<std::size_t> trials;
  for (std::size_t i = 0; i < history.trials.size() && history.trials[i].number < 0; ++i) {
    const TrialState state = history.trials[i].state;
    if (state == TrialState::kComplete || state == TrialState::kPruned) trials.push_back(i);
  }
  return trials;
}

Nsga2Parents parents_of(const History& history, std::int64_t number, std::size_t population) {
  Nsga2Parents parents;
  std::vector<std::size_t> pool = trials_of_others(history);
  if (pool.size() < population) pool.clear();
  for (const std::vector<std::size_t>& members : generations_of(history, "nsga2", number)) {
    if (members.size() < population) break;
    pool.insert(pool.end(), members.begin(), members.end());
    ++parents.generation;
  }
  parents.trials = best_first(history, std::move(pool), population);
  return parents;
}

// Breeds children of parents, which are ranked best first.
class Breeder {
 public:
  Breeder(const History& history, const std::vector<std::size_t>& parents, const Nsga2Options& options)
      : history_(history), parents_(parents), options_(options) {
    if (options_.mutation <= 0) options_.mutation = 1 / static_cast<double>(history.space.size());
  }

  Result<Point> breed(Random& random) const {
    for (int i = 0; i < kMaxChildren; ++i) {
      Point child = child_of(winner(random), winner(random), random);
      if (history_.space.meets_constraints(child)) return child;
    }
    return random_point(history_.space, random);
  }

 private:
  // Of two parents the better one.
  const Point& winner(Random& random) const {
    const std::uint64_t one = random.below(parents_.size()), other = random.below(parents_.size());
    return history_.trials[parents_[std::min(one, other)]].point;
  }

  Point child_of(const Point& one, const Point& other, Random& random) const {
    const Space& space = history_.space;
    const bool is_crossed = random.uniform() < options_.crossover;
    Point child(space.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (space.is_active(child, i)) child[i] = value_of(i, one[i], is_crossed ? other[i] : one[i], random);
    }
    return child;
  }

  double value_of(std::size_t i, double one, double other, Random& random) const {
    const Space& space = history_.space;
    if (std::isnan(one)) one = other;
    if (std::isnan(one)) return space.from_unit(i, random.uniform());
    if (std::isnan(other)) other = one;
    const bool is_mutated = random.uniform() < options_.mutation;
    if (!space[i].is_number() && !space[i].ordered) {
      if (is_mutated) return space.from_unit(i, random.uniform());
      return random.uniform() < 0.5 ? one : other;
    }
    double position = space.to_unit(i, random.uniform() < 0.5 ? one : other);
    if (one != other && random.uniform() < 0.5) {  // each parameter of a crossed child by even chance, as in Deb's own
      position = crossed(space.to_unit(i, one), space.to_unit(i, other), options_.crossover_index, random);
    }
    if (is_mutated) position = mutated(position, options_.mutation_index, random);
    return space.from_unit(i, position);
  }

  const History& history_;
  const std::vector<std::size_t>& parents_;
  Nsga2Options options_;
};

class Nsga2Sampler final : public TrialSampler {
 public:
  explicit Nsga2Sampler(const Nsga2Options& options) : options_(options) {
    options_.population = std::max<std::size_t>(options_.population, 2);
  }
  std::string_view name() const override { return "nsga2"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    Random random = random_of(history, number);
    const Nsga2Parents parents = parents_of(history, number, options_.population);
    const Breeder breeder(history, parents.trials, options_);
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, untried_point(history, number, random, [&] {
                                   const bool is_first = number == 0 && first_point(history.space);
                                   return parents.trials.empty() || is_first
                                              ? startup_point(history.space, number, random)
                                              : breeder.breed(random);
                                 }));
    return Suggestion{std::move(point), {{"nsga2", static_cast<double>(parents.generation)}}};
  }

 private:
  Nsga2Options options_;
};

}  // namespace

std::unique_ptr<TrialSampler> make_nsga2_sampler(const Nsga2Options& options) {
  return std::make_unique<Nsga2Sampler>(options);
}

}  // namespace trainwarden::tune
