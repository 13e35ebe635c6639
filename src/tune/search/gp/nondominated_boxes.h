// The part of a space of costs that a set of points does not dominate, as boxes.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace trainwarden::tune {

struct CostBox {
  Eigen::VectorXd low, high;  // low may be -infinity
};

// Disjoint boxes whose union is all below the reference, in every cost, that no point dominates. Slabs between the
// levels of the last cost, each cut further by the other costs of the points below it: of n points, n + 1 boxes for two
// costs and at most about n^2 / 2 for three.
std::vector<CostBox> nondominated_boxes(const std::vector<Eigen::VectorXd>& points, const Eigen::VectorXd& reference);

}  // namespace trainwarden::tune
