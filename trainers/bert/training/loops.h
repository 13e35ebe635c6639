// The loops over numbers of a step, one parameter or a part of one at a time. Nothing of LibTorch is in here.
#pragma once

#include <cstdint>

namespace bert {

// A part of a parameter. All arrays have `count` numbers and do not overlap.
struct Span {
  float* weights;
  float* average;
  float* average_squared;
  const float* gradients;
  std::int64_t count;
};

// What a step multiplies by, for one parameter.
struct AdamFactors {
  float beta1, beta2;
  float share1, share2;   // 1 - beta, from float64: of 0.999f it would be wrong in the fifth digit
  float gradient;         // gradients are multiplied by it first
  float coupled_decay;    // Adam: times the weight, added to the gradient
  float kept_weight;      // AdamW: 1 - learning rate × decay
  float step_size;        // learning rate / (1 - beta1^t)
  float root_correction;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
};

// m = β₁m + (1-β₁)g; v = β₂v + (1-β₂)g²; w = kept·w - step_size · m / (sqrt(v)·root_correction + ε).
void adam_loop(const Span& span, const AdamFactors& factors);

struct LambFactors {
  float beta1, beta2;
  float share1, share2;  // 1 - beta, from float64; share1 is 1 without gradient averaging
  float gradient;
  float correction1;      // 1 / (1 - beta1^t)
  float root_correction;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float decay;
};

struct SquaredNorms {
  double weights = 0;
  double update = 0;
};

// Moves m and v on and returns what the norms of w and of u = m·correction1 / (sqrt(v)·root_correction + ε) + decay·w
// come from. The weights stay as they are.
SquaredNorms lamb_averages_loop(const Span& span, const LambFactors& factors);
// w -= rate · u, with u as above.
void lamb_weights_loop(const Span& span, const LambFactors& factors, float rate);

double squared_norm_loop(const float* numbers, std::int64_t count);

}  // namespace bert
