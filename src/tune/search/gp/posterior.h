// What a Gaussian process knows of a function from observations.
#pragma once

#include "tune/search/gp/kernel.h"

namespace trainwarden::tune {

// Of a point: the standard deviation of the function, and its mean under each column of targets. Also used for the
// derivatives of something by these.
struct GpMoments {
  Eigen::VectorXd means;
  double deviation = 0;
};

// Immutable once made.
class GpPosterior {
 public:
  // Rows are observed points, columns of targets one or several sets of values observed there ("fantasies", which share
  // their deviation). Where rounding makes the matrix singular, the noise is raised tenfold until it is not.
  GpPosterior(std::vector<KernelDimension> dimensions, Eigen::MatrixXd rows, Eigen::MatrixXd targets,
              KernelParameters parameters);

  // Of a point, with what its gradient needs.
  struct At {
    GpMoments moments;
    Eigen::RowVectorXd row;
    Eigen::ArrayXd slopes;     // of the kernel to each observation, by the squared distance
    Eigen::VectorXd solution;  // the inverse matrix times that kernel
  };
  At at(const Eigen::RowVectorXd& row) const;
  // Adds the gradient by the positions of what has these derivatives by the moments; that by a choice or by a parameter
  // that is not active is 0.
  void add_gradient(const At& at, const GpMoments& derivatives, Eigen::VectorXd& gradient) const;

  // Of many points: a row of means for each, and the deviations.
  struct Many {
    Eigen::MatrixXd means;
    Eigen::VectorXd deviations;
  };
  Many at_all(const Eigen::MatrixXd& rows) const;

  // The same process with some more rows, observed with values drawn from it: `normals` has a row for each of them and
  // a column for each fantasy, standard normal; zeros make it believe its own means. Only of one column of targets.
  GpPosterior with_fantasies(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& normals) const;

  // The means at the rows themselves, of each column.
  Eigen::MatrixXd own_means() const { return targets_ - parameters_.noise * weights_; }

  const Eigen::MatrixXd& rows() const { return rows_; }
  const Eigen::MatrixXd& targets() const { return targets_; }
  const KernelParameters& parameters() const { return parameters_; }

 private:
  Eigen::MatrixXd kernel_to(const Eigen::MatrixXd& rows) const;  // a column for each

  std::vector<KernelDimension> dimensions_;
  Eigen::MatrixXd rows_, targets_;
  KernelParameters parameters_;
  Eigen::MatrixXd inverse_root_;  // lower; of the matrix of the observations
  Eigen::MatrixXd weights_;       // the inverse matrix times the targets
};

}  // namespace trainwarden::tune
