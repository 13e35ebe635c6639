#include "tune/search/samplers/mixture_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

constexpr double kFarAway = 8.5;     // deviations, beyond which the rest of the mass is below 1e-16
constexpr double kNarrowCell = 0.5;  // deviations
const double kHalfLogTwoPi = 0.5 * std::log(2 * std::numbers::pi);

// The mass between two bounds in deviations from the middle; right in both tails down to 1e-300.
double mass_between(double low, double high) {
  const double mass = low > 0 ? normal_cdf(-low) - normal_cdf(-high) : normal_cdf(high) - normal_cdf(low);
  return std::max(mass, 1e-300);
}

// The logarithm of the mass of a cell. Of a narrow one by the density in its middle and its second derivative (the rest
// is below h^4 z^4 / 1920); far away, where other kernels have the say, by the density alone.
double log_mass_of_cell(double low, double high, double position, double inverse) {
  const double z = (0.5 * (low + high) - position) * inverse, width = (high - low) * inverse;
  if (width > kNarrowCell && std::abs(z) - 0.5 * width < kFarAway) {
    return std::log(mass_between((low - position) * inverse, (high - position) * inverse));
  }
  const double bend = width <= kNarrowCell ? std::log1p(std::max(-0.5, width * width / 24 * (z * z - 1))) : 0;
  return log_normal_density(z) + std::log(width) + bend;
}

// The interval of positions that a value stands for.
std::pair<double, double> cell_of(const Space& space, std::size_t i, double value) {
  const Hyperparameter& parameter = space[i];
  if (parameter.is_number()) {
    const double half = (parameter.step > 0 ? parameter.step : 1) / 2;
    const double low = space.to_unit(i, value - half), high = space.to_unit(i, value + half);
    return low < high ? std::pair(low, high) : std::pair(0.0, 1.0);
  }
  const auto count = static_cast<double>(parameter.choices.size());
  return {value / count, (value + 1) / count};
}

}  // namespace

MixtureAxis::MixtureAxis(const Space& space, std::size_t parameter, std::span<const double> values, double prior_weight)
    : space_(&space), parameter_(parameter), prior_weight_(prior_weight) {
  const Hyperparameter& own = space[parameter];
  const bool is_choice = !own.is_number() && !own.ordered;
  kind_ = is_choice ? Kind::kChoice : space.count_of(parameter) == 0 ? Kind::kContinuum : Kind::kSteps;
  positions_.reserve(values.size() + 1);
  for (const double value : values) positions_.push_back(is_choice ? value : space.to_unit(parameter, value));
  positions_.push_back(is_choice ? -1 : 0.5);
  if (!is_choice) set_deviations();
}

void MixtureAxis::set_deviations() {
  const std::size_t count = positions_.size() - 1;
  std::vector<SortedPosition> sorted(count);  // values beside their indices: twice as quick as sorting indices
  for (std::size_t i = 0; i < count; ++i) sorted[i] = {positions_[i], static_cast<std::uint32_t>(i)};
  std::sort(sorted.begin(), sorted.end(),
            [](const SortedPosition& a, const SortedPosition& b) { return a.position < b.position; });
  const double least = 1 / std::min(100.0, 2 + static_cast<double>(count));
  deviations_.assign(count + 1, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double here = sorted[i].position;
    const bool is_alone = count == 1;
    const double below = i > 0 ? here - sorted[i - 1].position : is_alone ? here : 0;
    const double above = i + 1 < count ? sorted[i + 1].position - here : is_alone ? 1 - here : 0;
    deviations_[sorted[i].kernel] = std::clamp(std::max(below, above), least, 1.0);
  }
  inverses_.resize(count + 1);
  std::transform(deviations_.begin(), deviations_.end(), inverses_.begin(), [](double each) { return 1 / each; });
  if (kind_ == Kind::kSteps) find_step_kernels(sorted);
}

void MixtureAxis::find_step_kernels(std::span<const SortedPosition> sorted) {
  step_kernel_of_.resize(positions_.size());
  const auto add = [&](std::size_t i) {
    const StepKernel kernel{positions_[i], deviations_[i]};
    const bool is_known = !step_kernels_.empty() && step_kernels_.back().position == kernel.position &&
                          step_kernels_.back().deviation == kernel.deviation;
    if (!is_known) step_kernels_.push_back(kernel);
    step_kernel_of_[i] = static_cast<std::uint32_t>(step_kernels_.size() - 1);
  };
  for (const SortedPosition& each : sorted) add(each.kernel);
  add(positions_.size() - 1);
}

void MixtureAxis::multiply_factors(std::span<double> factors) const {
  if (kind_ == Kind::kChoice) return;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double low = positions_[i] * inverses_[i], high = (1 - positions_[i]) * inverses_[i];
    const bool is_cut = low < kFarAway || high < kFarAway;
    const double mass = is_cut ? normal_cdf(high) - normal_cdf(-low) : 1;  // a third at least
    factors[i] *= kind_ == Kind::kContinuum ? inverses_[i] / mass : 1 / mass;
  }
}

void MixtureAxis::add_terms(double value, std::span<double> terms) const {
  if (kind_ == Kind::kSteps) return add_terms_of_steps(value, terms);
  if (kind_ == Kind::kChoice) {
    const auto choices = static_cast<double>(space_->count_of(parameter_));
    const double share = prior_weight_ / static_cast<double>(positions_.size()), sum = 1 + choices * share;
    const double hit = std::log((1 + share) / sum), miss = std::log(share / sum);
    for (std::size_t i = 0; i + 1 < terms.size(); ++i) terms[i] += positions_[i] == value ? hit : miss;
    terms.back() += -std::log(choices);
    return;
  }
  add_terms_of_continuum(space_->to_unit(parameter_, value), terms);
}

// In blocks whose length the compiler knows and which nothing else points to: so it uses vectors at -O2 as well.
void MixtureAxis::add_terms_of_continuum(double here, std::span<double> terms) const {
  constexpr std::size_t kTermsAtOnce = 8;
  const double constant = kHalfLogTwoPi;
  const auto add_block = [&](std::size_t start, std::size_t count) {
    double squares[kTermsAtOnce];
    for (std::size_t i = 0; i < count; ++i) {
      const double z = (here - positions_[start + i]) * inverses_[start + i];
      squares[i] = 0.5 * z * z + constant;
    }
    for (std::size_t i = 0; i < count; ++i) terms[start + i] -= squares[i];
  };
  std::size_t start = 0;
  for (; start + kTermsAtOnce <= terms.size(); start += kTermsAtOnce) add_block(start, kTermsAtOnce);
  add_block(start, terms.size() - start);
}

void MixtureAxis::add_terms_of_steps(double value, std::span<double> terms) const {
  const auto [low, high] = cell_of(*space_, parameter_, value);
  std::vector<double> of_kernel(step_kernels_.size());
  for (std::size_t i = 0; i < step_kernels_.size(); ++i) {
    of_kernel[i] = log_mass_of_cell(low, high, step_kernels_[i].position, 1 / step_kernels_[i].deviation);
  }
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] += of_kernel[step_kernel_of_[i]];
}

double MixtureAxis::draw(std::size_t kernel, Random& random) const {
  const double part = random.uniform();
  if (kind_ != Kind::kChoice) {
    const double position = positions_[kernel], inverse = inverses_[kernel];
    const double z = normal_quantile_between(-position * inverse, (1 - position) * inverse, part);
    return space_->from_unit(parameter_, position + z * deviations_[kernel]);
  }
  const auto choices = static_cast<double>(space_->count_of(parameter_));
  const double share = prior_weight_ / static_cast<double>(positions_.size());
  // The observed one by the 1 of its own, any of them by the shares.
  const double at = part * (positions_[kernel] < 0 ? choices * share : 1 + choices * share);
  if (positions_[kernel] >= 0 && at < 1) return positions_[kernel];
  const double index = std::floor((positions_[kernel] < 0 ? at : at - 1) / share);
  return std::clamp(index, 0.0, choices - 1);
}

}  // namespace trainwarden::tune
