// Small runs with attention, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "read/trial/run_testing.h"
#include "ui/views/attention/run_attention.h"

namespace trainwarden::views::attention {

// Numbers without a pattern, between -1 and 1.
inline std::vector<float> some_numbers(std::int64_t count, int seed) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>(std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * seed)));
  }
  return numbers;
}

// A float32 tensor of random numbers.
inline TestTensor numbers(std::string name, const Shape& shape, int seed) {
  return shaped(kept(std::move(name), some_numbers(shape.element_count(), seed)), shape);
}

// Attention weights: each row of the last dimension sums to one.
inline std::vector<float> some_weights(const Shape& shape, int seed, bool causal = false) {
  std::vector<float> weights = some_numbers(shape.element_count(), seed);
  const std::int64_t keys = shape[shape.rank() - 1];
  const std::int64_t queries = shape[shape.rank() - 2];
  for (std::int64_t row = 0; row * keys < shape.element_count(); ++row) {
    double sum = 0;
    for (std::int64_t key = 0; key < keys; ++key) {
      float& weight = weights[static_cast<std::size_t>(row * keys + key)];
      weight = causal && key > row % queries ? 0.0F : std::exp(3 * weight);
      sum += static_cast<double>(weight);
    }
    for (std::int64_t key = 0; key < keys; ++key) {
      float& weight = weights[static_cast<std::size_t>(row * keys + key)];
      weight = static_cast<float>(static_cast<double>(weight) / sum);
    }
  }
  return weights;
}

inline TestTensor weights(std::string name, const Shape& shape, int seed, bool causal = false) {
  return shaped(kept(std::move(name), some_weights(shape, seed, causal)), shape);
}

// "t0", "t1", ...
inline TestTensor tokens(std::string name, const Shape& shape) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < shape.element_count(); ++i) texts.push_back("t" + std::to_string(i));
  return shaped(strings(std::move(name), std::move(texts)), shape);
}

inline RunAttention look_into(const TestRun& run) {
  return {std::make_shared<OpenRun>("run", run.open()), {}};
}

}  // namespace trainwarden::views::attention
