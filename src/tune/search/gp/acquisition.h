// What is gained by trying a point, by its logarithm, and how that changes with the positions of the point.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tune/search/gp/nondominated_boxes.h"
#include "tune/search/gp/posterior.h"

namespace trainwarden::tune {

// A term of the sum that is made as large as can be.
class AcquisitionTerm {
 public:
  virtual ~AcquisitionTerm() = default;

  // Of each row.
  Eigen::VectorXd of_all(const Eigen::MatrixXd& rows) const;
  // Of one, adding its gradient.
  double of(const Eigen::RowVectorXd& row, Eigen::VectorXd& gradient) const;

 protected:
  explicit AcquisitionTerm(std::vector<GpPosterior> posteriors) : posteriors_(std::move(posteriors)) {}
  // From the moments of each posterior; writes the derivatives by them, which have their sizes already.
  virtual double of_moments(std::span<const GpMoments> moments, std::span<GpMoments> derivatives) const = 0;

 private:
  std::vector<GpPosterior> posteriors_;
};

// The expected improvement over a bound, by the mean over the fantasies, each with a bound of its own: qLogEI, where
// points on trial are conditioned on and the next one is chosen alone.
std::unique_ptr<AcquisitionTerm> improvement_term(GpPosterior posterior, Eigen::VectorXd bounds);
// The probability that a cost is at most this bound, of one column of targets.
std::unique_ptr<AcquisitionTerm> feasibility_term(GpPosterior posterior, double bound);
// The expected hypervolume that a point with independent costs adds, exact: the sum over boxes of products of
// expected gains (log_expected_gain). One column of targets each.
std::unique_ptr<AcquisitionTerm> hypervolume_term(std::vector<GpPosterior> posteriors, std::vector<CostBox> boxes);

// The sum of terms.
class GpAcquisition {
 public:
  void add(std::unique_ptr<AcquisitionTerm> term) { terms_.push_back(std::move(term)); }
  Eigen::VectorXd of_all(const Eigen::MatrixXd& rows) const;
  // Writes the gradient by the positions: 0 by choices and where NaN.
  double of(const Eigen::RowVectorXd& row, Eigen::VectorXd& gradient) const;

 private:
  std::vector<std::unique_ptr<AcquisitionTerm>> terms_;
};

}  // namespace trainwarden::tune
