#include "tune/search/gp/kernel_fit.h"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "tune/search/gp/bounded_descent.h"
#include "tune/search/gp/lower_triangle.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr Index kCoarseCount = 64;
constexpr double kStartWeights[] = {1, 20};
constexpr double kStartNoise = 1e-3;
constexpr DescentLimits kCoarseLimits = {60, 1e-2, 1e-3}, kFineLimits = {12, 1e-2, 1e-2};

// Adds the priors to a loss and its gradient by the logarithms.
double add_priors(const KernelParameters& parameters, VectorXd& gradient) {
  const Index count = parameters.weights.size();
  const auto weights = parameters.weights.array();
  gradient.head(count).array() += 0.1 * weights - 0.1 / weights;
  gradient[count] += parameters.scale - 1;
  gradient[count + 1] += 30 * parameters.noise - 0.1;
  return (0.1 / weights + 0.1 * weights).sum() + parameters.scale - std::log(parameters.scale) + 30 * parameters.noise -
         0.1 * std::log(parameters.noise);
}

KernelParameters parameters_of(const VectorXd& logs) {
  const Index count = logs.size() - 2;
  return {logs.head(count).array().exp(), std::exp(logs[count]), std::exp(logs[count + 1])};
}

DescentEnd fit_from(FitLoss& loss, const VectorXd& start, bool is_deterministic, const DescentLimits& limits) {
  VectorXd low = VectorXd::Constant(start.size(), std::log(1e-4));
  VectorXd high = VectorXd::Constant(start.size(), std::log(1e4));
  low[start.size() - 1] = std::log(kNoiseFloor);
  high[start.size() - 1] = is_deterministic ? std::log(kNoiseFloor) : 0;
  return minimise_in_box([&](const VectorXd& at, VectorXd& gradient) { return loss(at, gradient); }, start, low, high,
                         limits);
}

// Every so-many-th row, such that at most kCoarseCount are left, the last among them.
std::vector<Index> coarse_rows(Index count) {
  const Index every = (count + kCoarseCount - 1) / kCoarseCount;
  std::vector<Index> rows;
  for (Index i = (count - 1) % every; i < count; i += every) rows.push_back(i);
  return rows;
}

// Of the fixed starts the one that ends best.
DescentEnd coarse_fit(FitLoss& loss, Index dimensions, bool is_deterministic) {
  std::optional<DescentEnd> best;
  for (const double weight : kStartWeights) {
    VectorXd start = VectorXd::Constant(dimensions + 2, std::log(weight));
    start[dimensions] = 0;
    start[dimensions + 1] = std::log(kStartNoise);
    DescentEnd end = fit_from(loss, start, is_deterministic, kCoarseLimits);
    if (!best || end.value < best->value) best = std::move(end);
  }
  return *best;
}

}  // namespace

FitLoss::FitLoss(const std::vector<KernelDimension>& dimensions, const MatrixXd& rows, const VectorXd& targets)
    : distances_(distances_of_pairs(dimensions, rows)), targets_(targets), matrix_(rows.rows(), rows.rows()) {}

double FitLoss::operator()(const VectorXd& logs, VectorXd& gradient) {
  const KernelParameters parameters = parameters_of(logs);
  const Index count = targets_.size(), dimensions = distances_.cols();
  const Eigen::ArrayXd squared = (distances_ * parameters.weights).array();
  const Eigen::ArrayXd root = (5 * squared).sqrt(), decay = (-root).exp();
  const Eigen::ArrayXd kernel = (1 + root + 5.0 / 3 * squared) * decay;
  Index pair = 0;
  for (Index i = 0; i < count; ++i) {
    for (Index k = 0; k < i; ++k) matrix_(i, k) = parameters.scale * kernel[pair++];
    matrix_(i, i) = parameters.scale + parameters.noise;
  }
  const Eigen::LLT<Eigen::Ref<MatrixXd>> cholesky(matrix_);  // in place
  if (cholesky.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  const double log_root = matrix_.diagonal().array().log().sum();

  // Twice the derivative by the matrix: its inverse, less the outer product of the solution with itself.
  invert_lower(matrix_);
  const VectorXd whitened = matrix_.triangularView<Eigen::Lower>() * targets_;
  const VectorXd solution = matrix_.transpose().triangularView<Eigen::Upper>() * whitened;
  gram_of_lower(matrix_);
  matrix_.selfadjointView<Eigen::Lower>().rankUpdate(solution, -1);

  Eigen::ArrayXd by_pair(squared.size());
  pair = 0;
  for (Index i = 0; i < count; ++i) {
    for (Index k = 0; k < i; ++k) by_pair[pair++] = matrix_(i, k);
  }
  const double trace = matrix_.trace();
  const Eigen::ArrayXd slopes = -5.0 / 6 * parameters.scale * (1 + root) * decay * by_pair;
  gradient.head(dimensions) =
      ((distances_.transpose() * slopes.matrix()).array() * parameters.weights.array()).matrix();
  gradient[dimensions] = parameters.scale * (0.5 * trace + (by_pair * kernel).sum());
  gradient[dimensions + 1] = parameters.noise * 0.5 * trace;
  return 0.5 * whitened.squaredNorm() + log_root + add_priors(parameters, gradient);
}

KernelParameters fit_kernel(const std::vector<KernelDimension>& dimensions, const MatrixXd& rows,
                            const VectorXd& targets, bool is_deterministic) {
  const std::vector<Index> some = coarse_rows(rows.rows());
  const MatrixXd some_rows = rows(some, Eigen::all);
  const VectorXd some_targets = targets(some);
  FitLoss coarse_loss(dimensions, some_rows, some_targets);
  DescentEnd end = coarse_fit(coarse_loss, rows.cols(), is_deterministic);
  if (rows.rows() > kCoarseCount) {
    FitLoss loss(dimensions, rows, targets);
    end = fit_from(loss, end.at, is_deterministic, kFineLimits);
  }
  return parameters_of(end.at);
}

}  // namespace trainwarden::tune
