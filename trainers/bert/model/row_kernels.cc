// Kernels that go over rows: activations and layer norms.
#include "model/kernels.h"

#include <algorithm>
#include <cmath>

// Arrays of vectors are used, which vectors of unknown length cannot be in; AVX3_DL and SSSE3 bring nothing more.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_AVX3_DL | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/row_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "model/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bert::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Vector set(float value) {
  return hn::Set(Floats(), value);
}

// Calls body(column, load, store) for whole vectors of a row, then for the rest, of which loads and stores take what is
// there.
template <class Body>
HWY_INLINE void for_columns(std::size_t columns, Body body) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t at = 0;
  for (; at + lanes <= columns; at += lanes) {
    body(
        at, [&](const float* from) HWY_ATTR { return hn::LoadU(d, from + at); },
        [&](Vector v, float* to) HWY_ATTR { hn::StoreU(v, d, to + at); });
  }
  if (at == columns) return;
  const std::size_t rest = columns - at;
  body(
      at,
      [&](const float* from) HWY_ATTR {
        HWY_ALIGN float values[hn::MaxLanes(Floats())] = {};
        std::copy(from + at, from + columns, values);
        return hn::Load(d, values);
      },
      [&](Vector v, float* to) HWY_ATTR {
        HWY_ALIGN float values[hn::MaxLanes(Floats())];
        hn::Store(v, d, values);
        std::copy(values, values + rest, to + at);
      });
}

// f(x) is x · part. Also gives f'(x).
struct Activated {
  Vector part;
  Vector slope;
};

HWY_INLINE Activated gelu(Vector x) {
  const Floats d;
  // erf(z) = 1 - (a1 t + ... + a5 t^5) exp(-z²), t = 1 / (1 + p z), for z >= 0.
  const Vector z = hn::Mul(hn::Abs(x), set(0.70710678f));
  const Vector bell = hn::Exp(d, hn::Mul(hn::Mul(x, x), set(-0.5f)));
  const Vector t = hn::Div(set(1), hn::MulAdd(z, set(0.3275911f), set(1)));
  Vector sum = hn::MulAdd(t, set(1.061405429f), set(-1.453152027f));
  sum = hn::MulAdd(sum, t, set(1.421413741f));
  sum = hn::MulAdd(sum, t, set(-0.284496736f));
  sum = hn::MulAdd(sum, t, set(0.254829592f));
  const Vector tail = hn::Mul(hn::Mul(hn::Mul(sum, t), bell), set(0.5f));  // of the normal distribution, beyond |x|
  const Vector part = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(set(1), tail));
  return {part, hn::MulAdd(hn::Mul(x, bell), set(0.39894228f), part)};
}

HWY_INLINE Activated gelu_tanh(Vector x) {
  const Floats d;
  // (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), u = √(2/π) (x + 0.044715 x³).
  const Vector square = hn::Mul(x, x);
  const Vector u2 = hn::Mul(hn::Mul(x, hn::MulAdd(square, set(0.044715f), set(1))), set(2 * 0.79788456f));
  const Vector part = hn::Div(set(1), hn::Add(set(1), hn::Exp(d, hn::Min(hn::Neg(u2), set(87)))));
  const Vector slope_u2 = hn::Mul(hn::MulAdd(square, set(3 * 0.044715f), set(1)), set(2 * 0.79788456f));
  const Vector change = hn::Mul(hn::Mul(part, hn::Sub(set(1), part)), slope_u2);
  return {part, hn::MulAdd(x, change, part)};
}

HWY_INLINE Activated relu(Vector x) {
  const Floats d;
  const Vector part = hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), set(1));
  return {part, part};
}

template <class F>
HWY_INLINE void activate(const Activate& self, const float* in, float* out, std::size_t rows, F function) {
  for (std::size_t row = 0; row < rows; ++row, in += self.columns, out += self.columns) {
    for_columns(self.columns, [&](std::size_t, auto load, auto store) HWY_ATTR {
      const Vector x = hn::Add(load(in), load(self.bias));
      store(hn::Mul(x, function(x).part), out);
    });
  }
}

template <class F>
HWY_INLINE void activate_back(const Activate& self, const float* in, float* gradient, float* out, float* bias_gradient,
                              std::size_t rows, F function) {
  for (std::size_t row = 0; row < rows; ++row, in += self.columns, gradient += self.columns, out += self.columns) {
    for_columns(self.columns, [&](std::size_t, auto load, auto store) HWY_ATTR {
      const Vector x = hn::Add(load(in), load(self.bias));
      const Activated f = function(x);
      const Vector of_in = hn::Mul(load(gradient), f.slope);
      store(hn::Mul(x, f.part), out);
      store(of_in, gradient);
      store(hn::Add(load(bias_gradient), of_in), bias_gradient);
    });
  }
}

void activate_rows(const Activate& self, const float* in, float* out, std::size_t rows) {
  switch (self.function) {
    case Function::kGelu: return activate(self, in, out, rows, [](Vector x) HWY_ATTR { return gelu(x); });
    case Function::kGeluTanh: return activate(self, in, out, rows, [](Vector x) HWY_ATTR { return gelu_tanh(x); });
    case Function::kRelu: return activate(self, in, out, rows, [](Vector x) HWY_ATTR { return relu(x); });
  }
}

void activate_rows_back(const Activate& self, const float* in, float* gradient, float* out, float* sums,
                        std::size_t rows) {
  const auto run = [&](auto function) HWY_ATTR { activate_back(self, in, gradient, out, sums, rows, function); };
  switch (self.function) {
    case Function::kGelu: return run([](Vector x) HWY_ATTR { return gelu(x); });
    case Function::kGeluTanh: return run([](Vector x) HWY_ATTR { return gelu_tanh(x); });
    case Function::kRelu: return run([](Vector x) HWY_ATTR { return relu(x); });
  }
}

HWY_INLINE float total(Vector v) {
  return hn::GetLane(hn::SumOfLanes(Floats(), v));
}

// The sum that is normalised, written over `in`; gives its mean.
HWY_INLINE float add_residual(const ResidualNorm& self, float* in, const float* residual, std::uint64_t row) {
  const Floats d;
  const DropoutRow dropped(self.dropout, row);
  Vector sum = hn::Zero(d);
  for_columns(self.columns, [&](std::size_t column, auto load, auto store) HWY_ATTR {
    Vector x = hn::Add(load(in), load(self.bias));
    if (dropped.any()) x = dropped.apply(d, x, column);
    x = hn::Add(x, load(residual));
    store(x, in);
    sum = hn::Add(sum, x);
  });
  return total(sum) / static_cast<float>(self.columns);
}

// 1 / √(variance + epsilon) of a row.
HWY_INLINE float inverse_deviation(const ResidualNorm& self, const float* sum, float mean) {
  Vector squares = hn::Zero(Floats());
  const std::size_t whole = self.columns / hn::Lanes(Floats()) * hn::Lanes(Floats());
  for (std::size_t at = 0; at < whole; at += hn::Lanes(Floats())) {
    const Vector x = hn::Sub(hn::LoadU(Floats(), sum + at), set(mean));
    squares = hn::MulAdd(x, x, squares);
  }
  float all = total(squares);
  for (std::size_t at = whole; at < self.columns; ++at) all += (sum[at] - mean) * (sum[at] - mean);
  return 1.0f / std::sqrt(all / static_cast<float>(self.columns) + self.epsilon);
}

void norm_rows(const ResidualNorm& self, float* in, const float* residual, float* out, float* means, float* scales,
               std::size_t rows, std::size_t first_row) {
  for (std::size_t row = 0; row < rows; ++row) {
    means[row] = add_residual(self, in, residual, first_row + row);
    scales[row] = inverse_deviation(self, in, means[row]);
    const Vector mean = set(means[row]);
    const Vector scale = set(scales[row]);
    for_columns(self.columns, [&](std::size_t, auto load, auto store) HWY_ATTR {
      const Vector x = hn::Mul(hn::Sub(load(in), mean), scale);
      store(hn::MulAdd(x, load(self.scale), load(self.shift)), out);
    });
    in += self.columns, residual += self.columns, out += self.columns;
  }
}

// Of one row: what the norm's gradient needs of all its columns. g is the gradient times the norm's weight, x the
// normalised sum; also adds to the sums of the weight and of the shift.
struct RowMeans {
  float gradient;  // of g
  float product;   // of g · x
};

HWY_INLINE RowMeans row_means(const ResidualNorm& self, const float* gradient, const float* sum, float mean_of_row,
                              float scale_of_row, float* sums) {
  const Floats d;
  const Vector mean = set(mean_of_row);
  const Vector scale = set(scale_of_row);
  float* scale_sums = sums + self.columns;
  float* shift_sums = scale_sums + self.columns;
  Vector gradients = hn::Zero(d);
  Vector products = hn::Zero(d);
  for_columns(self.columns, [&](std::size_t, auto load, auto store) HWY_ATTR {
    const Vector x = hn::Mul(hn::Sub(load(sum), mean), scale);
    const Vector of_out = load(gradient);
    const Vector g = hn::Mul(of_out, load(self.scale));
    gradients = hn::Add(gradients, g);
    products = hn::MulAdd(g, x, products);
    store(hn::MulAdd(of_out, x, load(scale_sums)), scale_sums);
    store(hn::Add(load(shift_sums), of_out), shift_sums);
  });
  const auto count = static_cast<float>(self.columns);
  return {total(gradients) / count, total(products) / count};
}

void norm_rows_back(const ResidualNorm& self, const float* gradient, const float* sum, const float* means,
                    const float* scales, float* residual_gradient, float* in_gradient, float* sums, std::size_t rows,
                    std::size_t first_row) {
  const Floats d;
  for (std::size_t row = 0; row < rows; ++row) {
    const RowMeans of_row = row_means(self, gradient, sum, means[row], scales[row], sums);
    const DropoutRow dropped(self.dropout, first_row + row);
    const Vector mean = set(means[row]);
    const Vector scale = set(scales[row]);
    for_columns(self.columns, [&](std::size_t column, auto load, auto store) HWY_ATTR {
      const Vector x = hn::Mul(hn::Sub(load(sum), mean), scale);
      const Vector g = hn::Sub(hn::Mul(load(gradient), load(self.scale)), set(of_row.gradient));
      Vector of_sum = hn::Mul(hn::NegMulAdd(x, set(of_row.product), g), scale);
      store(of_sum, residual_gradient);
      if (in_gradient != nullptr) {
        of_sum = dropped.any() ? dropped.apply(d, of_sum, column) : of_sum;
        store(of_sum, in_gradient);
      }
      store(hn::Add(load(sums), of_sum), sums);
    });
    gradient += self.columns, sum += self.columns, residual_gradient += self.columns;
    if (in_gradient != nullptr) in_gradient += self.columns;
  }
}

}  // namespace
}  // namespace bert::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bert::kernels {

HWY_EXPORT(activate_rows);
HWY_EXPORT(activate_rows_back);
HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_rows_back);

Dropout Dropout::with(double probability, std::uint64_t seed) {
  if (probability <= 0) return {};
  return {.seed = seed,
          .below = static_cast<std::uint32_t>(std::min(probability * 4294967296.0, 4294967295.0)),
          .scale = static_cast<float>(1 / (1 - probability))};
}

void Activate::forward(const float* in, float* out, std::size_t rows) const {
  HWY_DYNAMIC_DISPATCH(activate_rows)(*this, in, out, rows);
}

void Activate::backward(const float* in, float* gradient, float* out, float* bias_gradient, std::size_t rows) const {
  HWY_DYNAMIC_DISPATCH(activate_rows_back)(*this, in, gradient, out, bias_gradient, rows);
}

void ResidualNorm::forward(float* in, const float* residual, float* out, float* means, float* scales, std::size_t rows,
                           std::size_t first_row) const {
  HWY_DYNAMIC_DISPATCH(norm_rows)(*this, in, residual, out, means, scales, rows, first_row);
}

void ResidualNorm::backward(const float* gradient, const float* sum, const float* means, const float* scales,
                            float* residual_gradient, float* in_gradient, float* sums, std::size_t rows,
                            std::size_t first_row) const {
  HWY_DYNAMIC_DISPATCH(norm_rows_back)
  (*this, gradient, sum, means, scales, residual_gradient, in_gradient, sums, rows, first_row);
}

}  // namespace bert::kernels
#endif
