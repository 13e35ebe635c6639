// The end of a block.
#include "model/residual_norm.h"

#include <algorithm>
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

namespace bert {
namespace {

kernels::ResidualNorm kernel_of(const ResidualWeights& weights, std::uint64_t seed) {
  return {.columns = static_cast<std::size_t>(weights.bias.size(0)),
          .epsilon = static_cast<float>(weights.epsilon),
          .bias = weights.bias.data_ptr<float>(),
          .scale = weights.norm_weight.data_ptr<float>(),
          .shift = weights.norm_bias.data_ptr<float>(),
          .dropout = kernels::Dropout::with(weights.dropout, seed)};
}

}  // namespace

std::uint64_t dropout_seed(double probability) {
  if (probability <= 0) return 0;
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

void for_row_chunks(std::int64_t rows, const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& body) {
  const std::int64_t chunk_rows = std::max<std::int64_t>(16, (rows + kMaxChunks - 1) / kMaxChunks);
  const std::int64_t chunks = (rows + chunk_rows - 1) / chunk_rows;
  at::parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      const std::int64_t first = chunk * chunk_rows;
      body(first, std::min(chunk_rows, rows - first), chunk);
    }
  });
}

Normalised residual_norm(at::Tensor& in, const at::Tensor& residual, const ResidualWeights& weights,
                         std::uint64_t seed) {
  const std::int64_t rows = in.size(0);
  const std::int64_t width = in.size(1);
  Normalised result{at::empty_like(in), at::empty({rows}, in.options()), at::empty({rows}, in.options())};
  const auto kernel = kernel_of(weights, seed);
  float* sum = in.data_ptr<float>();
  const float* from = residual.data_ptr<float>();
  float* out = result.out.data_ptr<float>();
  float* means = result.means.data_ptr<float>();
  float* scales = result.scales.data_ptr<float>();
  for_row_chunks(rows, [&](std::int64_t first, std::int64_t count, std::int64_t) {
    kernel.forward(sum + first * width, from + first * width, out + first * width, means + first, scales + first,
                   static_cast<std::size_t>(count), static_cast<std::size_t>(first));
  });
  return result;
}

ResidualGradients residual_norm_back(const at::Tensor& gradient, const at::Tensor& sum, const at::Tensor& means,
                                     const at::Tensor& scales, const ResidualWeights& weights, std::uint64_t seed) {
  const std::int64_t rows = sum.size(0);
  const std::int64_t width = sum.size(1);
  const bool drops = weights.dropout > 0;
  ResidualGradients result;
  result.residual = at::empty_like(sum);
  result.in = drops ? at::empty_like(sum) : result.residual;
  const at::Tensor sums = at::zeros({kMaxChunks, 3, width}, sum.options());
  const auto kernel = kernel_of(weights, seed);
  const float* of_out = gradient.data_ptr<float>();
  const float* normalised = sum.data_ptr<float>();
  float* of_residual = result.residual.data_ptr<float>();
  float* of_in = drops ? result.in.data_ptr<float>() : nullptr;
  float* of_chunks = sums.data_ptr<float>();
  for_row_chunks(rows, [&](std::int64_t first, std::int64_t count, std::int64_t chunk) {
    const std::int64_t at = first * width;
    kernel.backward(of_out + at, normalised + at, means.data_ptr<float>() + first, scales.data_ptr<float>() + first,
                    of_residual + at, drops ? of_in + at : nullptr, of_chunks + chunk * 3 * width,
                    static_cast<std::size_t>(count), static_cast<std::size_t>(first));
  });
  const at::Tensor all = sums.sum(0);
  result.bias = all.select(0, 0);
  result.norm_weight = all.select(0, 1);
  result.norm_bias = all.select(0, 2);
  return result;
}

}  // namespace bert
