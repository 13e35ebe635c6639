#include "tune/search/samplers/covariance_evolution.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::tune {
namespace {

constexpr double kMinEigenvalue = 1e-20;  // of C; rounding can make it negative

// Equations 49 to 58 for one population; what depends on the dimension alone too.
struct EvolutionRates {
  Eigen::VectorXd weights;
  Eigen::Index parents = 0;  // with a positive weight
  double mass = 0;           // mu_eff
  double for_deviation = 0, damping = 0, for_path = 0, rank_one = 0, rank_mu = 0;
  double usual_length = 0;  // E|N(0, I)|
};

double mass_of(const Eigen::VectorXd& weights) {
  return weights.sum() * weights.sum() / weights.squaredNorm();
}

void set_weights(Eigen::VectorXd raw, double n, EvolutionRates& rates) {
  const double negative_mass = mass_of(raw.tail(raw.size() - rates.parents));
  const double most = std::min({1 + rates.rank_one / rates.rank_mu, 1 + 2 * negative_mass / (rates.mass + 2),
                                (1 - rates.rank_one - rates.rank_mu) / (n * rates.rank_mu)});
  const double positive = raw.cwiseMax(0).sum(), negative = -raw.cwiseMin(0).sum();
  rates.weights = raw.unaryExpr([&](double w) { return w >= 0 ? w / positive : most * w / negative; });
}

EvolutionRates rates_of(Eigen::Index dimensions, Eigen::Index population) {
  EvolutionRates rates;
  const auto n = static_cast<double>(dimensions);
  const double half = std::log((static_cast<double>(population) + 1) / 2);
  Eigen::VectorXd raw(population);
  for (Eigen::Index i = 0; i < population; ++i) raw[i] = half - std::log(static_cast<double>(i) + 1);
  rates.parents = population / 2;
  rates.mass = mass_of(raw.head(rates.parents));
  const double mass = rates.mass;
  rates.for_deviation = (mass + 2) / (n + mass + 5);
  rates.damping = 1 + 2 * std::max(0.0, std::sqrt((mass - 1) / (n + 1)) - 1) + rates.for_deviation;
  rates.for_path = (4 + mass / n) / (n + 4 + 2 * mass / n);
  rates.rank_one = 2 / ((n + 1.3) * (n + 1.3) + mass);
  rates.rank_mu = std::min(1 - rates.rank_one - 1e-8, 2 * (0.25 + mass + 1 / mass - 2) / ((n + 2) * (n + 2) + mass));
  rates.usual_length = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  set_weights(std::move(raw), n, rates);
  return rates;
}

}  // namespace

CovarianceEvolution::CovarianceEvolution(Eigen::VectorXd mean, double deviation, Eigen::VectorXd least)
    : mean_(std::move(mean)),
      deviation_(deviation),
      least_(std::move(least)),
      covariance_(Eigen::MatrixXd::Identity(mean_.size(), mean_.size())),
      axes_(covariance_),
      lengths_(Eigen::VectorXd::Ones(mean_.size())),
      deviation_path_(Eigen::VectorXd::Zero(mean_.size())),
      path_(deviation_path_) {}

Eigen::VectorXd CovarianceEvolution::margin() const {
  const Eigen::VectorXd own = deviation_ * covariance_.diagonal().cwiseSqrt();
  return least_.cwiseQuotient(own).cwiseMax(1);
}

Eigen::VectorXd CovarianceEvolution::draw(Random& random) const {
  Eigen::VectorXd z(mean_.size());
  for (double& each : z) each = random.normal();
  return mean_ + deviation_ * margin().cwiseProduct(axes_ * lengths_.cwiseProduct(z));
}

void CovarianceEvolution::update(std::span<const Eigen::VectorXd> points) {
  const Eigen::Index n = mean_.size();
  const EvolutionRates rates = rates_of(n, static_cast<Eigen::Index>(points.size()));
  const Eigen::VectorXd scale = deviation_ * margin();
  Eigen::MatrixXd steps(n, rates.weights.size());
  for (Eigen::Index i = 0; i < steps.cols(); ++i) {
    steps.col(i) = (points[static_cast<std::size_t>(i)] - mean_).cwiseQuotient(scale);
  }
  const Eigen::VectorXd step = steps.leftCols(rates.parents) * rates.weights.head(rates.parents);
  mean_ += scale.cwiseProduct(step);

  const Eigen::MatrixXd whitening = axes_ * lengths_.cwiseInverse().asDiagonal() * axes_.transpose();
  const double keep = 1 - rates.for_deviation;
  deviation_path_ = keep * deviation_path_ +
                    std::sqrt(rates.for_deviation * (2 - rates.for_deviation) * rates.mass) * (whitening * step);
  const double length = deviation_path_.norm();
  ++generation_;
  const double settled = length / std::sqrt(1 - std::pow(keep, 2 * generation_));
  const double stalls = settled < (1.4 + 2 / (static_cast<double>(n) + 1)) * rates.usual_length ? 1 : 0;  // h_sigma
  path_ = (1 - rates.for_path) * path_ + stalls * std::sqrt(rates.for_path * (2 - rates.for_path) * rates.mass) * step;

  Eigen::VectorXd weights = rates.weights;  // equation 46
  for (Eigen::Index i = rates.parents; i < weights.size(); ++i) {
    if (weights[i] < 0) weights[i] *= static_cast<double>(n) / ((whitening * steps.col(i)).squaredNorm() + 1e-8);
  }
  const double missing = (1 - stalls) * rates.for_path * (2 - rates.for_path);
  covariance_ *= 1 + rates.rank_one * missing - rates.rank_one - rates.rank_mu * rates.weights.sum();
  covariance_ += rates.rank_one * path_ * path_.transpose();
  covariance_ += rates.rank_mu * steps * weights.asDiagonal() * steps.transpose();
  deviation_ *= std::exp(std::min(1.0, rates.for_deviation / rates.damping * (length / rates.usual_length - 1)));
  decompose();
}

void CovarianceEvolution::decompose() {
  covariance_ = 0.5 * (covariance_ + covariance_.transpose()).eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance_);
  const Eigen::VectorXd values = solver.eigenvalues().cwiseMax(kMinEigenvalue);
  axes_ = solver.eigenvectors();
  lengths_ = values.cwiseSqrt();
  covariance_ = axes_ * values.asDiagonal() * axes_.transpose();
}

double CovarianceEvolution::largest_deviation() const {
  return deviation_ * lengths_.maxCoeff();
}

}  // namespace trainwarden::tune
