// TensorSnapshot: what is remembered of a tensor at one step, to find later whether it is still the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// |a - b| <= atol + rtol * |b|, as NumPy's allclose: infinities are close when they are equal, NaN only with equal_nan.
struct Closeness {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};

// What an answer rests on, the surest last.
enum class LikenessGround : std::uint8_t {
  kStatistics,  // exact sums, extremes and counts: the same elements, maybe in another order
  kHash,        // the same bits
  kValues,      // all elements are close
};

struct Likeness {
  bool alike = false;
  LikenessGround ground = LikenessGround::kValues;
  double largest_difference = 0;  // with kValues and alike: the largest |a - b|
};

// Values when they were kept whole, else a fingerprint: exact statistics and, when there is one, the hash.
class TensorSnapshot {
 public:
  // Keeps values of at most `most_bytes`, of larger tensors the fingerprint. kOutOfRange when neither values nor
  // exact statistics were kept, or the tensor has no elements.
  static Result<TensorSnapshot> take(const TensorSpot& spot, const StepWindow& window, std::size_t most_bytes);

  // rtol refers to `b`. Tensors of different shapes are not alike.
  static Result<Likeness> compare(const TensorSnapshot& a, const TensorSnapshot& b, const Closeness& closeness);

  std::size_t held_bytes() const;  // of values in memory of their own

 private:
  static Result<TensorSnapshot> of_value(const TensorSpot& spot, SharedTensorValue value, std::size_t most_bytes);
  Result<Statistics> fingerprint() const;

  Shape shape_;
  std::optional<SharedTensorValue> value_;
  Statistics statistics_;  // when there is no value; without a histogram
};

}  // namespace trainwarden::rules
