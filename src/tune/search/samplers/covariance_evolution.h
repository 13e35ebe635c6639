// CovarianceEvolution: the normal distribution of CMA-ES, and how a generation changes it.
//
// Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv 1604.00772v2, 2023), with its default weights (negative ones
// too) and learning rates; equations below are its own.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Dense>

#include "tune/search/random.h"

namespace trainwarden::tune {

class CovarianceEvolution {
 public:
  // `least`: of each coordinate the deviation that it never falls below when points are drawn; 0: any. What is rounded
  // would else stop at one value. As in CMA-ES with margin (Hamano et al. 2022) the difference is a factor beside the
  // covariance, which goes on to adapt.
  CovarianceEvolution(Eigen::VectorXd mean, double deviation, Eigen::VectorXd least);

  Eigen::VectorXd draw(Random& random) const;
  // The points of one generation, best first, two at least.
  void update(std::span<const Eigen::VectorXd> points);
  // The largest deviation along any direction.
  double largest_deviation() const;
  const Eigen::VectorXd& mean() const { return mean_; }

 private:
  Eigen::VectorXd margin() const;  // the factors
  void decompose();

  Eigen::VectorXd mean_;
  double deviation_;  // sigma
  Eigen::VectorXd least_;
  Eigen::MatrixXd covariance_;             // C
  Eigen::MatrixXd axes_;                   // B
  Eigen::VectorXd lengths_;                // D
  Eigen::VectorXd deviation_path_, path_;  // p_sigma, p_c
  int generation_ = 0;
};

}  // namespace trainwarden::tune
