// Products of small matrices that lie in the cache. Included once for each target of Highway.
//
// The right side is packed into panels: of each kPanel columns all rows one after the other, so that it is read in
// order.
#if defined(TRAINERS_BERT_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRAINERS_BERT_PRODUCTS_INL
#undef TRAINERS_BERT_PRODUCTS_INL
#else
#define TRAINERS_BERT_PRODUCTS_INL
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bert::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// Twelve sums of two vectors' width fill the registers of AVX2.
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kPanel = 2 * hn::MaxLanes(Floats());

constexpr std::size_t whole_panels(std::size_t columns) {
  return (columns + kPanel - 1) / kPanel * kPanel;
}

// A left side: element (row, inner) lies at from[row · row_step + inner · inner_step].
struct Left {
  const float* from;
  std::size_t row_step;
  std::size_t inner_step;
};

// out += or = left · panel, for kRows rows and one panel of columns.
template <std::size_t kRows>
HWY_INLINE void multiply_tile(Left left, const float* panel, std::size_t inner, float* out, std::size_t out_step,
                              bool add) {
  const Floats d;
  constexpr std::size_t kLanes = kPanel / 2;
  Vector low[kRows];
  Vector high[kRows];
  for (std::size_t row = 0; row < kRows; ++row) {
    low[row] = add ? hn::LoadU(d, out + row * out_step) : hn::Zero(d);
    high[row] = add ? hn::LoadU(d, out + row * out_step + kLanes) : hn::Zero(d);
  }
  for (std::size_t i = 0; i < inner; ++i, panel += kPanel) {
    const Vector right_low = hn::LoadU(d, panel);
    const Vector right_high = hn::LoadU(d, panel + kLanes);
    const float* column = left.from + i * left.inner_step;
    for (std::size_t row = 0; row < kRows; ++row) {
      const Vector value = hn::Set(d, column[row * left.row_step]);
      low[row] = hn::MulAdd(value, right_low, low[row]);
      high[row] = hn::MulAdd(value, right_high, high[row]);
    }
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    hn::StoreU(low[row], d, out + row * out_step);
    hn::StoreU(high[row], d, out + row * out_step + kLanes);
  }
}

// out [rows, whole_panels(columns)] += or = left [rows, inner] · panels of [inner, columns].
HWY_INLINE void multiply(Left left, std::size_t rows, const float* panels, std::size_t inner, std::size_t columns,
                         float* out, std::size_t out_step, bool add) {
  for (std::size_t column = 0; column < columns; column += kPanel, panels += inner * kPanel) {
    std::size_t row = 0;
    const auto place = [&](std::size_t r) {
      return Left{left.from + r * left.row_step, left.row_step, left.inner_step};
    };
    for (; row + kTileRows <= rows; row += kTileRows) {
      multiply_tile<kTileRows>(place(row), panels, inner, out + row * out_step + column, out_step, add);
    }
    for (; row + 2 <= rows; row += 2) {
      multiply_tile<2>(place(row), panels, inner, out + row * out_step + column, out_step, add);
    }
    if (row < rows) multiply_tile<1>(place(row), panels, inner, out + row * out_step + column, out_step, add);
  }
}

// Packs rows of `width` numbers as the right side [rows, width]. `row_of(i)` gives row i's first number.
template <class RowOf>
HWY_INLINE void pack(std::size_t rows, std::size_t width, float* panels, RowOf row_of) {
  for (std::size_t row = 0; row < rows; ++row) {
    const float* from = row_of(row);
    for (std::size_t column = 0; column < width; column += kPanel) {
      float* to = panels + column * rows + row * kPanel;
      const std::size_t count = std::min(kPanel, width - column);
      std::copy(from + column, from + column + count, to);
      std::fill(to + count, to + kPanel, 0.0f);
    }
  }
}

// Packs the same rows the other way round, as the right side [width, rows].
template <class RowOf>
HWY_INLINE void pack_transposed(std::size_t rows, std::size_t width, float* panels, RowOf row_of) {
  for (std::size_t first = 0; first < rows; first += kPanel, panels += width * kPanel) {
    const std::size_t count = std::min(kPanel, rows - first);
    for (std::size_t row = 0; row < count; ++row) {
      const float* from = row_of(first + row);
      for (std::size_t i = 0; i < width; ++i) panels[i * kPanel + row] = from[i];
    }
    for (std::size_t i = 0; i < width; ++i) std::fill(panels + i * kPanel + count, panels + (i + 1) * kPanel, 0.0f);
  }
}

}  // namespace bert::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
