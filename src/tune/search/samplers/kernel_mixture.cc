#include "tune/search/samplers/kernel_mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tune/search/samplers/mixture_axis.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kNewest = 25;
constexpr std::size_t kAxesInOneProduct = 64;  // a factor is at most 100 for each
constexpr double kNegligible = -37;            // logarithm, of what adds nothing to a double

double log_sum_exp(std::span<const double> terms) {
  const double largest = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms) {
    if (term - largest > kNegligible) sum += std::exp(term - largest);
  }
  return largest + std::log(sum);
}

}  // namespace

std::vector<double> weights_by_age(std::size_t n) {
  std::vector<double> weights(n, 1);
  if (n < kNewest) return weights;
  const std::size_t older = n - kNewest;
  const double least = 1 / static_cast<double>(n);
  for (std::size_t i = 0; i < older; ++i) {
    const double part = older > 1 ? static_cast<double>(i) / static_cast<double>(older - 1) : 0;
    weights[i] = least + part * (1 - least);
  }
  return weights;
}

KernelMixture::KernelMixture(const Space& space, std::vector<std::size_t> parameters,
                             std::span<const Point* const> observations, std::span<const double> weights,
                             double prior_weight)
    : parameters_(std::move(parameters)) {
  std::vector<double> factors(weights.begin(), weights.end());
  factors.push_back(prior_weight);
  cumulative_.resize(factors.size());
  std::partial_sum(factors.begin(), factors.end(), cumulative_.begin());
  for (double& factor : factors) factor /= cumulative_.back();
  log_weights_.assign(factors.size(), 0);
  std::vector<double> values(observations.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    std::transform(observations.begin(), observations.end(), values.begin(),
                   [&](const Point* point) { return (*point)[parameters_[i]]; });
    axes_.emplace_back(space, parameters_[i], values, prior_weight).multiply_factors(factors);
    if ((i + 1) % kAxesInOneProduct == 0) add_logarithms(factors);
  }
  add_logarithms(factors);
}

void KernelMixture::add_logarithms(std::vector<double>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) log_weights_[i] += std::log(factors[i]);
  factors.assign(factors.size(), 1);
}

KernelMixture::~KernelMixture() = default;
KernelMixture::KernelMixture(KernelMixture&&) noexcept = default;
KernelMixture& KernelMixture::operator=(KernelMixture&&) noexcept = default;

void KernelMixture::draw(Random& random, Point& point) const {
  const double at = random.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
  const auto kernel =
      std::min<std::size_t>(static_cast<std::size_t>(found - cumulative_.begin()), cumulative_.size() - 1);
  for (std::size_t i = 0; i < axes_.size(); ++i) point[parameters_[i]] = axes_[i].draw(kernel, random);
}

double KernelMixture::log_density(const Point& point) const {
  terms_ = log_weights_;
  for (std::size_t i = 0; i < axes_.size(); ++i) axes_[i].add_terms(point[parameters_[i]], terms_);
  return log_sum_exp(terms_);
}

}  // namespace trainwarden::tune
