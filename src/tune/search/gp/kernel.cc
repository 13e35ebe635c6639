#include "tune/search/gp/kernel.h"

#include <cmath>

namespace trainwarden::tune {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

std::vector<KernelDimension> kernel_dimensions(const Space& space) {
  std::vector<KernelDimension> dimensions;
  for (const Hyperparameter& parameter : space.parameters()) {
    dimensions.push_back({!parameter.is_number() && !parameter.ordered, parameter.when.has_value()});
  }
  return dimensions;
}

RowVectorXd positions_of(const Space& space, const Point& point) {
  RowVectorXd row(static_cast<Eigen::Index>(space.size()));
  for (std::size_t i = 0; i < space.size(); ++i) row[static_cast<Eigen::Index>(i)] = space.to_unit(i, point[i]);
  return row;
}

double squared_distance(const KernelDimension& dimension, double one, double other) {
  const bool is_absent = std::isnan(one);
  if (is_absent || std::isnan(other)) return is_absent == std::isnan(other) ? 0 : 1;
  if (dimension.is_choice) return one == other ? 0 : 1;
  return (one - other) * (one - other);
}

ArrayXd matern(const ArrayXd& squared) {
  const ArrayXd a = (5 * squared).sqrt();
  return (1 + a + 5.0 / 3 * squared) * (-a).exp();
}

ArrayXd matern_slope(const ArrayXd& squared) {
  const ArrayXd a = (5 * squared).sqrt();
  return -5.0 / 6 * (1 + a) * (-a).exp();
}

ArrayXd squared_distances(const std::vector<KernelDimension>& dimensions, const VectorXd& weights, const MatrixXd& rows,
                          const RowVectorXd& point) {
  ArrayXd sum = ArrayXd::Zero(rows.rows());
  for (Eigen::Index j = 0; j < rows.cols(); ++j) {
    const KernelDimension& dimension = dimensions[static_cast<std::size_t>(j)];
    if (dimension.is_plain()) {
      sum += weights[j] * (rows.col(j).array() - point[j]).square();
      continue;
    }
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      sum[i] += weights[j] * squared_distance(dimension, rows(i, j), point[j]);
    }
  }
  return sum;
}

MatrixXd distances_of_pairs(const std::vector<KernelDimension>& dimensions, const MatrixXd& rows) {
  MatrixXd distances(rows.rows() * (rows.rows() - 1) / 2, rows.cols());
  for (Eigen::Index j = 0; j < rows.cols(); ++j) {
    Eigen::Index pair = 0;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      for (Eigen::Index k = 0; k < i; ++k) {
        distances(pair++, j) = squared_distance(dimensions[static_cast<std::size_t>(j)], rows(i, j), rows(k, j));
      }
    }
  }
  return distances;
}

}  // namespace trainwarden::tune
