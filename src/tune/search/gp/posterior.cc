#include "tune/search/gp/posterior.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "tune/search/gp/lower_triangle.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

// Below this share of the kernel's variance, a variance is rounding.
constexpr double kMinVariance = 1e-12;
// A matrix with less noise than this share of the variance is solved wrongly in doubles where points are doubled.
constexpr double kMinNoise = 1e-10;
constexpr Index kBlock = 256;  // candidates at once: they and what they need stay in the cache

double deviation_of(double variance, double scale) {
  return std::sqrt(std::max(variance, kMinVariance * scale));
}

MatrixXd lower_root(MatrixXd matrix, double& noise) {
  matrix.diagonal().array() += noise;
  for (;;) {
    const Eigen::LLT<MatrixXd> cholesky(matrix);
    if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
    matrix.diagonal().array() += 9 * noise;
    noise *= 10;
  }
}

}  // namespace

GpPosterior::GpPosterior(std::vector<KernelDimension> dimensions, MatrixXd rows, MatrixXd targets,
                         KernelParameters parameters)
    : dimensions_(std::move(dimensions)),
      rows_(std::move(rows)),
      targets_(std::move(targets)),
      parameters_(std::move(parameters)) {
  parameters_.noise = std::max(parameters_.noise, kMinNoise * parameters_.scale);
  inverse_root_ = lower_root(kernel_to(rows_), parameters_.noise);
  invert_lower(inverse_root_);
  const MatrixXd whitened = inverse_root_.triangularView<Eigen::Lower>() * targets_;
  weights_ = inverse_root_.transpose().triangularView<Eigen::Upper>() * whitened;
}

MatrixXd GpPosterior::kernel_to(const MatrixXd& rows) const {
  MatrixXd kernel(rows_.rows(), rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    kernel.col(i) =
        parameters_.scale * matern(squared_distances(dimensions_, parameters_.weights, rows_, rows.row(i))).matrix();
  }
  return kernel;
}

GpPosterior::At GpPosterior::at(const RowVectorXd& row) const {
  const Eigen::ArrayXd squared = squared_distances(dimensions_, parameters_.weights, rows_, row);
  const Eigen::ArrayXd root = (5 * squared).sqrt(), decay = (-root).exp();
  const VectorXd kernel = (parameters_.scale * (1 + root + 5.0 / 3 * squared) * decay).matrix();
  const VectorXd whitened = inverse_root_.triangularView<Eigen::Lower>() * kernel;
  At at;
  at.row = row;
  at.moments.means = weights_.transpose() * kernel;
  at.moments.deviation = deviation_of(parameters_.scale - whitened.squaredNorm(), parameters_.scale);
  at.solution = inverse_root_.transpose().triangularView<Eigen::Upper>() * whitened;
  at.slopes = -5.0 / 6 * parameters_.scale * (1 + root) * decay;
  return at;
}

void GpPosterior::add_gradient(const At& at, const GpMoments& derivatives, VectorXd& gradient) const {
  // By the kernel to each observation: of the variance -2 * solution, of the deviation half of that over itself.
  const VectorXd by_kernel = weights_ * derivatives.means - derivatives.deviation / at.moments.deviation * at.solution;
  const Eigen::ArrayXd by_squared = by_kernel.array() * at.slopes;
  for (Index j = 0; j < rows_.cols(); ++j) {
    const KernelDimension& dimension = dimensions_[static_cast<std::size_t>(j)];
    const double position = at.row[j], factor = 2 * parameters_.weights[j];
    if (dimension.is_choice || std::isnan(position)) continue;
    if (dimension.is_plain()) {
      gradient[j] += factor * (by_squared * (position - rows_.col(j).array())).sum();
      continue;
    }
    for (Index i = 0; i < rows_.rows(); ++i) {
      if (!std::isnan(rows_(i, j))) gradient[j] += factor * by_squared[i] * (position - rows_(i, j));
    }
  }
}

GpPosterior::Many GpPosterior::at_all(const MatrixXd& rows) const {
  Many many{MatrixXd(rows.rows(), targets_.cols()), VectorXd(rows.rows())};
  for (Index begin = 0; begin < rows.rows(); begin += kBlock) {
    const Index count = std::min(kBlock, rows.rows() - begin);
    const MatrixXd kernel = kernel_to(rows.middleRows(begin, count));
    many.means.middleRows(begin, count).noalias() = kernel.transpose() * weights_;
    const MatrixXd whitened = inverse_root_.triangularView<Eigen::Lower>() * kernel;
    for (Index i = 0; i < count; ++i) {
      many.deviations[begin + i] = deviation_of(parameters_.scale - whitened.col(i).squaredNorm(), parameters_.scale);
    }
  }
  return many;
}

GpPosterior GpPosterior::with_fantasies(const MatrixXd& rows, const MatrixXd& normals) const {
  const GpPosterior prior_to_itself(dimensions_, rows, MatrixXd::Zero(rows.rows(), 1), parameters_);
  const MatrixXd kernel = kernel_to(rows);
  const MatrixXd whitened = inverse_root_.triangularView<Eigen::Lower>() * kernel;
  const MatrixXd covariance = prior_to_itself.kernel_to(rows) - whitened.transpose() * whitened;
  double noise = parameters_.noise;
  const MatrixXd root = lower_root(covariance, noise);
  const VectorXd means = kernel.transpose() * weights_.col(0);

  MatrixXd all_rows(rows_.rows() + rows.rows(), rows_.cols());
  all_rows << rows_, rows;
  MatrixXd all_targets(all_rows.rows(), normals.cols());
  all_targets << targets_.col(0).replicate(1, normals.cols()), (root * normals).colwise() + means;
  return GpPosterior(dimensions_, std::move(all_rows), std::move(all_targets), parameters_);
}

}  // namespace trainwarden::tune
