// Which parameters of the kernel explain observations best.
#pragma once

#include <optional>

#include "tune/search/gp/kernel.h"

namespace trainwarden::tune {

inline constexpr double kNoiseFloor = 1e-6;

// The negative logarithm of the posterior density of the parameters, without constants, as a function of their
// logarithms (weights, scale, noise), with its gradient. The likelihood is that of targets with mean 0 (Rasmussen and
// Williams 2006, 5.4.1), the priors (as densities of the parameters themselves): of each weight w, -(0.1 / w + 0.1 w);
// of the scale Gamma(2, rate 1); of the noise Gamma(1.1, rate 30).
class FitLoss {
 public:
  FitLoss(const std::vector<KernelDimension>& dimensions, const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets);

  // Infinite where the matrix is singular.
  double operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& gradient);

 private:
  Eigen::MatrixXd distances_;
  const Eigen::VectorXd& targets_;
  Eigen::MatrixXd
      matrix_;  // of the observations, its root, the inverse of that, and the derivative, one after the other
};

// The maximum of the posterior; a deterministic function has the least noise. Found in two steps, so that the answer
// depends on the observations alone and comes soon: on at most 64 of them from fixed starts, then on all from where
// this ended. Targets have about mean 0 and variance 1.
KernelParameters fit_kernel(const std::vector<KernelDimension>& dimensions, const Eigen::MatrixXd& rows,
                            const Eigen::VectorXd& targets, bool is_deterministic);

}  // namespace trainwarden::tune
