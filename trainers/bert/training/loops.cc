// The loops of a step. A step is bound by memory: each loop reads and writes a number once, and leaves nothing between.
#include "training/loops.h"

#include <cmath>

// The compiler makes one of each for wide registers, and the program takes what the CPU has. Contraction of multiply
// and add is off in the whole build, so all give the same numbers but for the order of sums.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BERT_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BERT_WIDE
#endif

namespace bert {

BERT_WIDE void adam_loop(const Span& span, const AdamFactors& factors) {
  float* __restrict weights = span.weights;
  float* __restrict average = span.average;
  float* __restrict average_squared = span.average_squared;
  const float* __restrict gradients = span.gradients;
  const AdamFactors f = factors;
#pragma omp simd
  for (std::int64_t i = 0; i < span.count; ++i) {
    const float weight = weights[i];
    const float gradient = gradients[i] * f.gradient + f.coupled_decay * weight;
    const float m = average[i] * f.beta1 + gradient * f.share1;
    const float v = average_squared[i] * f.beta2 + gradient * gradient * f.share2;
    average[i] = m;
    average_squared[i] = v;
    weights[i] = weight * f.kept_weight - f.step_size * (m / (std::sqrt(v) * f.root_correction + f.epsilon));
  }
}

BERT_WIDE SquaredNorms lamb_averages_loop(const Span& span, const LambFactors& factors) {
  const float* __restrict weights = span.weights;
  float* __restrict average = span.average;
  float* __restrict average_squared = span.average_squared;
  const float* __restrict gradients = span.gradients;
  const LambFactors f = factors;
  double of_weights = 0;
  double of_update = 0;
#pragma omp simd reduction(+ : of_weights, of_update)
  for (std::int64_t i = 0; i < span.count; ++i) {
    const float weight = weights[i];
    const float gradient = gradients[i] * f.gradient;
    const float m = average[i] * f.beta1 + gradient * f.share1;
    const float v = average_squared[i] * f.beta2 + gradient * gradient * f.share2;
    average[i] = m;
    average_squared[i] = v;
    const float update = m * f.correction1 / (std::sqrt(v) * f.root_correction + f.epsilon) + f.decay * weight;
    of_weights += static_cast<double>(weight) * weight;
    of_update += static_cast<double>(update) * update;
  }
  return {of_weights, of_update};
}

BERT_WIDE void lamb_weights_loop(const Span& span, const LambFactors& factors, float rate) {
  float* __restrict weights = span.weights;
  const float* __restrict average = span.average;
  const float* __restrict average_squared = span.average_squared;
  const LambFactors f = factors;
#pragma omp simd
  for (std::int64_t i = 0; i < span.count; ++i) {
    const float update = average[i] * f.correction1 / (std::sqrt(average_squared[i]) * f.root_correction + f.epsilon) +
                         f.decay * weights[i];
    weights[i] -= rate * update;
  }
}

BERT_WIDE double squared_norm_loop(const float* numbers, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(numbers[i]) * numbers[i];
  return sum;
}

}  // namespace bert
