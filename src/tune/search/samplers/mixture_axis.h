// MixtureAxis: what the kernels of a KernelMixture are in one parameter.
#pragma once

#include <span>
#include <vector>

#include "tune/search/random.h"
#include "tune/search/space.h"

namespace trainwarden::tune {

class MixtureAxis {
 public:
  // One kernel for each value, and the prior last.
  MixtureAxis(const Space& space, std::size_t parameter, std::span<const double> values, double prior_weight);

  // Multiplies each kernel's factor by what does not depend on the value.
  void multiply_factors(std::span<double> factors) const;
  // Adds to each kernel's term the logarithm of what does.
  void add_terms(double value, std::span<double> terms) const;
  double draw(std::size_t kernel, Random& random) const;

 private:
  enum class Kind : std::uint8_t { kContinuum, kSteps, kChoice };
  // Kernels of steps repeat: each different one is computed once.
  struct StepKernel {
    double position, deviation;
  };

  struct SortedPosition {
    double position;
    std::uint32_t kernel;
  };

  void set_deviations();
  void find_step_kernels(std::span<const SortedPosition> sorted);
  void add_terms_of_continuum(double here, std::span<double> terms) const;
  void add_terms_of_steps(double value, std::span<double> terms) const;

  const Space* space_;
  std::size_t parameter_;
  Kind kind_;
  double prior_weight_;
  std::vector<double> positions_;   // of each kernel; of a choice its index, -1: the prior
  std::vector<double> deviations_;  // of numbers
  std::vector<double> inverses_;    // of the deviations
  std::vector<StepKernel> step_kernels_;
  std::vector<std::uint32_t> step_kernel_of_;
};

}  // namespace trainwarden::tune
