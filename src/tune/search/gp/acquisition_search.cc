#include "tune/search/gp/acquisition_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tune/search/gp/local_search.h"
#include "tune/search/gp/quasi_points.h"
#include "tune/search/sampler.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kTriesPerCandidate = 10;
constexpr std::size_t kNearCount = 64;            // candidates near each incumbent
constexpr std::uint64_t kMaxCounted = 1'000'000;  // points that are gone through one by one
constexpr double kNearest = 0.003, kFarthest = 0.3;

bool is_allowed(const AcquisitionProblem& problem, const Point& point) {
  return problem.space.meets_constraints(point) && !problem.tried.excludes(point);
}

// Moves some of the positions by a normal step whose length is drawn by its logarithm.
Point point_near(const Space& space, const Point& incumbent, Random& random) {
  const double length = kNearest * std::pow(kFarthest / kNearest, random.uniform());
  Point point = incumbent;
  const std::size_t certain = random.below(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    const bool is_moved = i == certain || random.uniform() < 0.5;
    const double step = random.normal();
    if (!is_moved || std::isnan(point[i])) continue;
    if (space[i].is_number() || space[i].ordered) {
      point[i] = space.from_unit(i, space.to_unit(i, point[i]) + length * step);
    } else if (std::abs(step) > 1.5) {
      point[i] = space.from_unit(i, random.uniform());
    }
  }
  space.settle(point);
  return point;
}

std::vector<Point> allowed_incumbents(const AcquisitionProblem& problem) {
  std::vector<Point> points;
  for (const Point& point : problem.incumbents) {
    if (is_allowed(problem, point)) points.push_back(point);
  }
  return points;
}

// The points of `first` come first.
std::vector<Point> candidates_of(const AcquisitionProblem& problem, const std::vector<Point>& first, std::size_t wanted,
                                 Random& random) {
  std::vector<Point> points = first;
  for (const Point& incumbent : problem.incumbents) {
    for (std::size_t i = 0; i < kNearCount; ++i) {
      Point point = point_near(problem.space, incumbent, random);
      if (is_allowed(problem, point)) points.push_back(std::move(point));
    }
  }
  const QuasiPoints quasi(problem.space, random);
  for (std::size_t i = 0; i < kTriesPerCandidate * wanted && points.size() < wanted; ++i) {
    Point point = quasi.point(i);
    if (is_allowed(problem, point)) points.push_back(std::move(point));
  }
  // Few meet the constraints, or few are left.
  const std::uint64_t count = problem.space.count();
  if (points.empty() && count > 0 && count <= kMaxCounted)
    points = untried_points(problem.space, problem.tried, wanted);
  if (auto point = random_point(problem.space, random); points.empty() && point && is_allowed(problem, *point)) {
    points.push_back(*point);
  }
  return points;
}

std::vector<ScoredPoint> score(const AcquisitionProblem& problem, std::vector<Point> points) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(points.size()), static_cast<Eigen::Index>(problem.space.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) = positions_of(problem.space, points[i]);
  }
  const Eigen::VectorXd scores = problem.acquisition.of_all(rows);
  std::vector<ScoredPoint> scored;
  for (std::size_t i = 0; i < points.size(); ++i) {
    scored.push_back({std::move(points[i]), scores[static_cast<Eigen::Index>(i)]});
  }
  return scored;
}

// The best one, others with a probability in proportion to what is gained there, each once.
std::vector<std::size_t> draw_starts(const std::vector<ScoredPoint>& scored, std::size_t wanted, Random& random) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scored.size(); ++i) {
    if (scored[i].score > scored[best].score) best = i;
  }
  std::vector<double> weights;
  for (const ScoredPoint& each : scored) {
    const double weight = std::exp(each.score - scored[best].score);
    weights.push_back(std::isfinite(weight) ? weight : 0);
  }
  std::vector<std::size_t> starts = {best};
  weights[best] = 0;
  while (starts.size() < wanted && std::accumulate(weights.begin(), weights.end(), 0.0) > 0) {
    starts.push_back(random.weighted(weights));
    weights[starts.back()] = 0;
  }
  return starts;
}

}  // namespace

Status nothing_left() {
  return Status(Code::kResourceExhausted,
                "expected a point that has not been tried and meets the constraints between parameters, found none: "
                "widen the ranges, or end the search");
}

Result<Point> search_acquisition(const AcquisitionProblem& problem, const AcquisitionSearchOptions& options,
                                 Random& random) {
  const std::uint64_t count = problem.space.count();
  const bool is_whole = count > 0 && count <= options.candidates;
  const std::vector<Point> first = is_whole ? std::vector<Point>() : allowed_incumbents(problem);
  const std::vector<ScoredPoint> scored =
      score(problem, is_whole ? untried_points(problem.space, problem.tried, options.candidates)
                              : candidates_of(problem, first, options.candidates, random));
  if (scored.empty()) return nothing_left();
  std::vector<std::size_t> starts = draw_starts(scored, options.starts, random);
  ScoredPoint best = scored[starts[0]];
  if (is_whole) return best.point;
  for (std::size_t i = 0; i < first.size(); ++i) starts.push_back(i);
  for (const std::size_t start : starts) {
    ScoredPoint end = search_near(problem, scored[start]);
    if (end.score > best.score) best = std::move(end);
  }
  return best.point;
}

}  // namespace trainwarden::tune
