// LAMB's options and the step of fused loops.
#include "training/lamb.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "training/gradients.h"
#include "training/half_copy.h"
#include "training/loops.h"
#include "training/pieces.h"

namespace bert {
namespace {

Span part_of(const Span& whole, const Piece& piece) {
  return {whole.weights + piece.begin, whole.average + piece.begin, whole.average_squared + piece.begin,
          whole.gradients + piece.begin, piece.count};
}

LambFactors factors_of(const LambOptions& options, const Slot& slot, double gradient_factor) {
  const double t = static_cast<double>(slot.steps);
  const double first = options.bias_correction ? 1 - std::pow(options.beta1, t) : 1;
  const double second = options.bias_correction ? 1 - std::pow(options.beta2, t) : 1;
  return {.beta1 = static_cast<float>(options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .share1 = static_cast<float>(options.gradient_averaging ? 1 - options.beta1 : 1),
          .share2 = static_cast<float>(1 - options.beta2),
          .gradient = static_cast<float>(gradient_factor),
          .correction1 = static_cast<float>(1 / first),
          .root_correction = static_cast<float>(1 / std::sqrt(second)),
          .epsilon = static_cast<float>(options.epsilon),
          .decay = static_cast<float>(slot.weight_decay)};
}

}  // namespace

LambOptions tensorflow_addons_lamb() {
  return {};
}

LambOptions apex_lamb() {
  LambOptions options;
  options.max_gradient_norm = 1;
  return options;
}

LambOptions nvlamb() {
  LambOptions options = apex_lamb();
  options.no_adaptation.clear();
  return options;
}

Lamb::Lamb(NamedTensors parameters, const LambOptions& options)
    : Optimizer(std::move(parameters), options.loops), options_(options) {
  const auto is_share = [](double beta) { return beta >= 0 && beta < 1; };
  if (!is_share(options.beta1) || !is_share(options.beta2) || !(options.epsilon > 0) || !(options.weight_decay >= 0)) {
    throw std::runtime_error("LAMB needs betas in [0, 1), a positive epsilon and a weight decay of 0 or more; found " +
                             std::to_string(options.beta1) + ", " + std::to_string(options.beta2) + ", " +
                             std::to_string(options.epsilon) + ", " + std::to_string(options.weight_decay) + ".");
  }
  if (!(options.min_weight_norm >= 0) || !(options.max_weight_norm >= options.min_weight_norm) ||
      !(options.max_trust > 0) || !(options.max_gradient_norm >= 0)) {
    throw std::runtime_error(
        "LAMB needs 0 <= min_weight_norm <= max_weight_norm, a positive max_trust and a max_gradient_norm of 0 or "
        "more.");
  }
  for (Slot& slot : mutable_slots()) {
    slot.weight_decay = is_excluded(slot.name, options.no_decay) ? 0 : options.weight_decay;
    slot.adapts = !is_excluded(slot.name, options.no_adaptation);
  }
}

double Lamb::ratio(const Slot& slot, double weight_norm, double update_norm) const {
  if (!slot.adapts || weight_norm == 0 || update_norm == 0) return 1;
  const double clamped = std::clamp(weight_norm, options_.min_weight_norm, options_.max_weight_norm);
  return std::min(clamped / update_norm, options_.max_trust);
}

void Lamb::update(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                  double gradient_factor) {
  if (options_.max_gradient_norm > 0) {
    const double norm = norm_of(gradients) * std::abs(gradient_factor);
    gradient_factor /= std::max(norm / options_.max_gradient_norm, 1.0);
  }
  if (fused()) {
    update_fused(active, gradients, learning_rate, gradient_factor);
  } else {
    update_foreach(active, gradients, learning_rate, gradient_factor);
  }
}

void Lamb::update_fused(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients,
                        double learning_rate, double gradient_factor) {
  std::vector<Span> spans;
  std::vector<LambFactors> factors;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const Slot& slot = *active[i];
    counts.push_back(slot.master.numel());
    spans.push_back({slot.master.data_ptr<float>(), slot.average.data_ptr<float>(),
                     slot.average_squared.data_ptr<float>(), gradients[i].data_ptr<float>(), 0});
    factors.push_back(factors_of(options_, slot, gradient_factor));
  }
  const std::vector<Piece> pieces = cut_into_pieces(counts);
  std::vector<SquaredNorms> partial(pieces.size());
  for_each_piece(pieces, [&](const Piece& piece, std::size_t place) {
    partial[place] = lamb_averages_loop(part_of(spans[piece.tensor], piece), factors[piece.tensor]);
  });

  std::vector<SquaredNorms> sums(active.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    sums[pieces[i].tensor].weights += partial[i].weights;
    sums[pieces[i].tensor].update += partial[i].update;
  }
  trust_.clear();
  for (std::size_t i = 0; i < active.size(); ++i) {
    const double weight_norm = std::sqrt(sums[i].weights);
    const double update_norm = std::sqrt(sums[i].update);
    trust_.push_back({active[i]->name, weight_norm, update_norm, ratio(*active[i], weight_norm, update_norm)});
  }
  for_each_piece(pieces, [&](const Piece& piece, std::size_t) {
    const float rate = static_cast<float>(learning_rate * trust_[piece.tensor].ratio);
    lamb_weights_loop(part_of(spans[piece.tensor], piece), factors[piece.tensor], rate);
    round_to_parameter(*active[piece.tensor], piece.begin, piece.count);
  });
}

}  // namespace bert
