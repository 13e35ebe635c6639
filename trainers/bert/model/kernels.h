// Loops over float32 numbers on the CPU that PyTorch runs as several passes over memory. Vectorised by Highway for the
// CPU at hand; the same call gives the same bits on the same CPU, whatever the number of threads. They know nothing of
// LibTorch, start no threads, and may run side by side on different outputs. Matrices are row-major, sizes are counts
// of elements, and outputs overlap inputs only where a comment says so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bert::kernels {

// Which elements dropout keeps. Element (row, column) is kept when a hash of it and the seed, a uniform number of 32
// bits, is not below `below`; what is kept is multiplied by `scale`. Nothing is stored: backward asks again.
struct Dropout {
  std::uint64_t seed = 0;
  std::uint32_t below = 0;  // probability · 2^32; 0 keeps all
  float scale = 1;          // 1 / (1 - probability)

  // `probability` in [0, 1).
  static Dropout with(double probability, std::uint64_t seed);
};

enum class Function { kGelu, kGeluTanh, kRelu };

// out = f(in + bias), and its gradient. f is GELU (Hendrycks & Gimpel 2016, https://arxiv.org/abs/1606.08415), with the
// error function of Abramowitz & Stegun 7.1.26, which is off by at most 1.5e-7, or GELU by tanh, or ReLU.
struct Activate {
  Function function;
  std::size_t columns;
  const float* bias;  // [columns]

  // `out` may be `in`.
  void forward(const float* in, float* out, std::size_t rows) const;
  // `gradient` is that of out and becomes that of in. `out` is what forward gave, again. Adds the gradient of the bias
  // to `bias_gradient` [columns].
  void backward(const float* in, float* gradient, float* out, float* bias_gradient, std::size_t rows) const;
};

// out = layer norm(dropout(in + bias) + residual) (Ba et al. 2016, https://arxiv.org/abs/1607.06450), over rows.
struct ResidualNorm {
  std::size_t columns;
  float epsilon;
  const float* bias;   // [columns]
  const float* scale;  // [columns]: the norm's weight
  const float* shift;  // [columns]: the norm's bias
  Dropout dropout;

  // `in` becomes the sum that is normalised. `means` and `scales` [rows]: the mean of each, and 1 / its deviation.
  // `first_row`: the number of the first one, by which dropout counts.
  void forward(float* in, const float* residual, float* out, float* means, float* scales, std::size_t rows,
               std::size_t first_row) const;

  // Gradients: of out given; of the residual; of `in` before dropout, where there is any (else it is that of the
  // residual, and null is passed); and sums to which is added: of bias, scale and shift, one after the other, in
  // `sums` [3, columns].
  void backward(const float* gradient, const float* sum, const float* means, const float* scales,
                float* residual_gradient, float* in_gradient, float* sums, std::size_t rows,
                std::size_t first_row) const;
};

// Attention of one head over the rows of one item: softmax(Q Kᵀ / √d) V, in blocks that stay in the cache, without the
// matrix of probabilities in memory (as Dao et al. 2022, https://arxiv.org/abs/2205.14135). Each row of `projected` has
// queries, keys and values of all heads, one after the other, to which the bias is yet to be added.
struct Attention {
  std::size_t head_size;  // d
  std::size_t hidden;     // heads · d; a row of `projected` has three times as many numbers
  const float* bias;      // [3, hidden]
  Dropout dropout;

  struct Item {
    std::size_t head;
    std::size_t first_row;
    std::size_t rows;
    const std::int64_t* keys;  // [key_count]: the rows that are attended to, counted from row 0 of `projected`
    std::size_t key_count;     // at least 1
    std::uint64_t first_probability_row;  // by which dropout counts: another for each item and head
  };

  // Bytes of scratch memory that a call needs for items of these sizes.
  std::size_t scratch_bytes(std::size_t max_rows, std::size_t max_keys) const;

  // Fills context [.., hidden] in the item's rows and the head's columns, and `logs` [rows]: the logarithm of each
  // row's sum of exponentials.
  void forward(const Item& item, const float* projected, float* context, float* logs, void* scratch) const;

  // From the gradient of context to that of `projected`, in the item's rows and the head's columns, and to that of the
  // bias in the head's columns of `bias_gradient` [3, hidden], which are overwritten.
  void backward(const Item& item, const float* projected, const float* context, const float* logs,
                const float* context_gradient, float* projected_gradient, float* bias_gradient, void* scratch) const;
};

}  // namespace bert::kernels
