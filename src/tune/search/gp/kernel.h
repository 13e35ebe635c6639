// The kernel of the Gaussian processes: Matérn 5/2 with a weight for each dimension.
//
// Points are rows of positions (Space::to_unit); NaN: the parameter is not active. Of two points, the squared distance
// in a dimension is that of the positions; of a choice without an order it is 0 where they are equal and 1 elsewhere
// (Hamming); of a parameter that is not active in both it is 0, and of one that is active in one of them only, 1.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "tune/search/space.h"

namespace trainwarden::tune {

struct KernelDimension {
  bool is_choice = false;      // without an order
  bool may_be_absent = false;  // has a condition

  bool is_plain() const { return !is_choice && !may_be_absent; }
};
std::vector<KernelDimension> kernel_dimensions(const Space& space);
Eigen::RowVectorXd positions_of(const Space& space, const Point& point);

double squared_distance(const KernelDimension& dimension, double one, double other);

// k = scale * (1 + a + a^2 / 3) exp(-a), a = sqrt(5 * sum over dimensions of weight * squared distance).
struct KernelParameters {
  Eigen::VectorXd weights;  // inverse squared length scales, by dimension
  double scale = 1;         // variance
  double noise = 1e-6;      // variance of an observation besides
};

// (1 + a + a^2 / 3) exp(-a) of weighted squared distances r = a^2 / 5, and its derivative by r: -5/6 (1 + a) exp(-a).
Eigen::ArrayXd matern(const Eigen::ArrayXd& squared);
Eigen::ArrayXd matern_slope(const Eigen::ArrayXd& squared);

// The weighted squared distances of one point to each row.
Eigen::ArrayXd squared_distances(const std::vector<KernelDimension>& dimensions, const Eigen::VectorXd& weights,
                                 const Eigen::MatrixXd& rows, const Eigen::RowVectorXd& point);

// Of each pair of rows (i, k), k < i, in the order (1,0), (2,0), (2,1), ...: the squared distance by dimension.
Eigen::MatrixXd distances_of_pairs(const std::vector<KernelDimension>& dimensions, const Eigen::MatrixXd& rows);

}  // namespace trainwarden::tune
