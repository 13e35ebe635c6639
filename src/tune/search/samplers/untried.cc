#include "tune/search/samplers/untried.h"

#include <bit>
#include <cmath>

#include "tune/search/sampler.h"
#include "tune/search/samplers/lattice.h"

namespace trainwarden::tune {
namespace {

constexpr int kRedraws = 20;
constexpr int kRandomRedraws = 100;
constexpr std::uint64_t kMaxListed = 1'000'000;

// The untried points of a lattice from a random one of them on.
std::optional<Point> any_untried(const Lattice& lattice, const TriedPoints& tried, Random& random) {
  const std::uint64_t start = random.below(lattice.size());
  for (std::uint64_t i = 0; i < lattice.size(); ++i) {
    auto point = lattice.point((start + i) % lattice.size());
    if (point && !tried.contains(*point)) return point;
  }
  return std::nullopt;
}

}  // namespace

TriedPoints::TriedPoints(const History& history, std::int64_t but) {
  hashes_.reserve(history.trials.size());
  for (const StudyTrial& trial : history.trials) {
    if (trial.number >= 0 && trial.number != but) hashes_.insert(hash_of(trial.point));
  }
}

// Of splitmix64's finaliser.
std::uint64_t TriedPoints::hash_of(const Point& point) {
  std::uint64_t hash = point.size();
  for (const double value : point) {
    const double plain = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;  // no -0
    hash = (hash ^ std::bit_cast<std::uint64_t>(plain)) + 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

Result<Point> untried_point(const History& history, std::int64_t number, Random& random,
                            const std::function<Result<Point>()>& draw) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Point point, draw());
  if (history.space.count() == 0) return point;
  const TriedPoints tried(history, number);
  for (int i = 0; i < kRedraws + kRandomRedraws && tried.contains(point); ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(point, i < kRedraws ? draw() : random_point(history.space, random));
  }
  const Lattice lattice(history.space, 0);
  if (!tried.contains(point) || lattice.size() == 0 || lattice.size() > kMaxListed) return point;
  if (auto other = any_untried(lattice, tried, random)) return *std::move(other);
  return Status(Code::kResourceExhausted,
                "every point of the space has been tried: widen a range, add a choice, or end the study");
}

}  // namespace trainwarden::tune
