#include "tune/search/gp/acquisition.h"

#include <cmath>

#include "tune/search/gp/log_improvement.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

// log of the sum of exponentials; turns the terms into the share that each has of the sum.
double log_sum(VectorXd& terms) {
  const double largest = terms.maxCoeff();
  if (!std::isfinite(largest)) {
    terms.setConstant(1.0 / static_cast<double>(terms.size()));
    return largest;
  }
  terms = (terms.array() - largest).exp();
  const double sum = terms.sum();
  terms /= sum;
  return largest + std::log(sum);
}

class ImprovementTerm : public AcquisitionTerm {
 public:
  ImprovementTerm(GpPosterior posterior, VectorXd bounds)
      : AcquisitionTerm({std::move(posterior)}), bounds_(std::move(bounds)) {}

 protected:
  double of_moments(std::span<const GpMoments> moments, std::span<GpMoments> derivatives) const override {
    const auto& [means, deviation] = moments[0];
    VectorXd values(means.size()), by_deviation(means.size());
    for (Index i = 0; i < means.size(); ++i) {
      const LogValue each = log_expected_improvement(means[i], deviation, bounds_[i]);
      values[i] = each.value;
      derivatives[0].means[i] = each.by_mean;
      by_deviation[i] = each.by_deviation;
    }
    const double sum = log_sum(values);
    derivatives[0].means.array() *= values.array();
    derivatives[0].deviation = by_deviation.dot(values);
    return sum - std::log(static_cast<double>(means.size()));
  }

 private:
  VectorXd bounds_;
};

class FeasibilityTerm : public AcquisitionTerm {
 public:
  FeasibilityTerm(GpPosterior posterior, double bound) : AcquisitionTerm({std::move(posterior)}), bound_(bound) {}

 protected:
  double of_moments(std::span<const GpMoments> moments, std::span<GpMoments> derivatives) const override {
    const LogValue value = log_feasibility(moments[0].means[0], moments[0].deviation, bound_);
    derivatives[0].means[0] = value.by_mean;
    derivatives[0].deviation = value.by_deviation;
    return value.value;
  }

 private:
  double bound_;
};

class HypervolumeTerm : public AcquisitionTerm {
 public:
  HypervolumeTerm(std::vector<GpPosterior> posteriors, std::vector<CostBox> boxes)
      : AcquisitionTerm(std::move(posteriors)), boxes_(std::move(boxes)) {}

 protected:
  double of_moments(std::span<const GpMoments> moments, std::span<GpMoments> derivatives) const override {
    const auto costs = static_cast<Index>(moments.size()), count = static_cast<Index>(boxes_.size());
    VectorXd volumes = VectorXd::Zero(count);
    MatrixXd by_means(count, costs), by_deviations(count, costs);
    for (Index i = 0; i < count; ++i) {
      const CostBox& box = boxes_[static_cast<std::size_t>(i)];
      for (Index j = 0; j < costs; ++j) {
        const GpMoments& cost = moments[static_cast<std::size_t>(j)];
        const LogValue gain = log_expected_gain(cost.means[0], cost.deviation, box.low[j], box.high[j]);
        volumes[i] += gain.value;
        by_means(i, j) = gain.by_mean;
        by_deviations(i, j) = gain.by_deviation;
      }
    }
    const double sum = log_sum(volumes);
    for (Index j = 0; j < costs; ++j) {
      derivatives[static_cast<std::size_t>(j)].means[0] = volumes.dot(by_means.col(j));
      derivatives[static_cast<std::size_t>(j)].deviation = volumes.dot(by_deviations.col(j));
    }
    return sum;
  }

 private:
  std::vector<CostBox> boxes_;
};

}  // namespace

VectorXd AcquisitionTerm::of_all(const MatrixXd& rows) const {
  std::vector<GpPosterior::Many> many;
  for (const GpPosterior& posterior : posteriors_) many.push_back(posterior.at_all(rows));
  std::vector<GpMoments> moments(posteriors_.size()), derivatives(posteriors_.size());
  for (std::size_t j = 0; j < many.size(); ++j) derivatives[j].means.resize(many[j].means.cols());
  VectorXd values(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < many.size(); ++j) {
      moments[j].means = many[j].means.row(i);
      moments[j].deviation = many[j].deviations[i];
    }
    values[i] = of_moments(moments, derivatives);
  }
  return values;
}

double AcquisitionTerm::of(const RowVectorXd& row, VectorXd& gradient) const {
  std::vector<GpPosterior::At> places;
  std::vector<GpMoments> moments, derivatives;
  for (const GpPosterior& posterior : posteriors_) {
    places.push_back(posterior.at(row));
    moments.push_back(places.back().moments);
    derivatives.push_back(places.back().moments);
  }
  const double value = of_moments(moments, derivatives);
  for (std::size_t j = 0; j < places.size(); ++j) posteriors_[j].add_gradient(places[j], derivatives[j], gradient);
  return value;
}

std::unique_ptr<AcquisitionTerm> improvement_term(GpPosterior posterior, VectorXd bounds) {
  return std::make_unique<ImprovementTerm>(std::move(posterior), std::move(bounds));
}
std::unique_ptr<AcquisitionTerm> feasibility_term(GpPosterior posterior, double bound) {
  return std::make_unique<FeasibilityTerm>(std::move(posterior), bound);
}
std::unique_ptr<AcquisitionTerm> hypervolume_term(std::vector<GpPosterior> posteriors, std::vector<CostBox> boxes) {
  return std::make_unique<HypervolumeTerm>(std::move(posteriors), std::move(boxes));
}

VectorXd GpAcquisition::of_all(const MatrixXd& rows) const {
  VectorXd sum = VectorXd::Zero(rows.rows());
  for (const auto& term : terms_) sum += term->of_all(rows);
  return sum;
}

double GpAcquisition::of(const RowVectorXd& row, VectorXd& gradient) const {
  gradient.setZero(row.size());
  double sum = 0;
  for (const auto& term : terms_) sum += term->of(row, gradient);
  return sum;
}

}  // namespace trainwarden::tune
