// Norm, clipping and accumulation of gradients.
#include "training/gradients.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <stdexcept>

#include "training/loops.h"
#include "training/pieces.h"

namespace bert {
namespace {

// One pass over memory.
double squared_norm_on_cpu(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> kept;
  std::vector<std::int64_t> counts;
  for (const at::Tensor& tensor : tensors) {
    kept.push_back(tensor.to(at::kFloat).contiguous());
    counts.push_back(tensor.numel());
  }
  const std::vector<Piece> pieces = cut_into_pieces(counts);
  std::vector<double> partial(pieces.size());
  for_each_piece(pieces, [&](const Piece& piece, std::size_t place) {
    partial[place] = squared_norm_loop(kept[piece.tensor].data_ptr<float>() + piece.begin, piece.count);
  });
  double sum = 0;
  for (const double part : partial) sum += part;
  return sum;
}

std::vector<at::Tensor> gradients_of(const NamedTensors& parameters) {
  std::vector<at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

}  // namespace

double norm_of(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> dense;
  for (const at::Tensor& tensor : tensors) dense.push_back(tensor.is_sparse() ? tensor.coalesce().values() : tensor);
  if (dense.empty()) return 0;
  if (dense.front().is_cpu()) return std::sqrt(squared_norm_on_cpu(dense));
  std::vector<at::Tensor> norms;
  for (const at::Tensor& norm : at::_foreach_norm(dense, 2)) norms.push_back(norm.to(at::kFloat));
  return at::linalg_vector_norm(at::stack(norms), 2).item<double>();
}

double gradient_norm(const NamedTensors& parameters) {
  return norm_of(gradients_of(parameters));
}

Clipping clipping(double norm, double max_norm) {
  if (!(max_norm >= 0)) {
    throw std::runtime_error("The limit of the gradient norm must be positive, or 0 for none; found " +
                             std::to_string(max_norm) + ".");
  }
  Clipping result{.norm = norm, .finite = std::isfinite(norm)};
  if (result.finite && max_norm > 0) result.factor = std::min(1.0, max_norm / (norm + 1e-6));
  return result;
}

void scale_gradients(const NamedTensors& parameters, double factor) {
  const at::NoGradGuard no_grad;
  for (at::Tensor& gradient : gradients_of(parameters)) gradient.mul_(factor);
}

Accumulation::Accumulation(std::int64_t batches) : batches_(batches) {
  if (batches < 1) {
    throw std::runtime_error("Gradients accumulate over 1 batch or more, found " + std::to_string(batches) + ".");
  }
}

bool Accumulation::add(bool end) {
  ++counted_;
  return end || counted_ >= batches_;
}

}  // namespace bert
