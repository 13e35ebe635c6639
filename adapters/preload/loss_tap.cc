// LossTap: the table of loss operators.
#include "loss_tap.h"

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainwarden::torch {
namespace {

// By the operator, what the loss is called. An operator that another of these consists of is not seen by itself.
const std::unordered_map<std::string_view, std::string_view>& loss_operators() {
  static const auto* const table = new std::unordered_map<std::string_view, std::string_view>{
      {"aten::binary_cross_entropy", "binary_cross_entropy"},
      {"aten::binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits"},
      {"aten::cosine_embedding_loss", "cosine_embedding_loss"},
      {"aten::cross_entropy_loss", "cross_entropy_loss"},
      {"aten::ctc_loss", "ctc_loss"},
      {"aten::hinge_embedding_loss", "hinge_embedding_loss"},
      {"aten::huber_loss", "huber_loss"},
      {"aten::kl_div", "kl_div"},
      {"aten::l1_loss", "l1_loss"},
      {"aten::margin_ranking_loss", "margin_ranking_loss"},
      {"aten::mse_loss", "mse_loss"},
      {"aten::multi_margin_loss", "multi_margin_loss"},
      {"aten::multilabel_margin_loss", "multilabel_margin_loss"},
      {"aten::nll_loss", "nll_loss"},
      {"aten::nll_loss2d", "nll_loss"},
      {"aten::nll_loss_nd", "nll_loss"},
      {"aten::poisson_nll_loss", "poisson_nll_loss"},
      {"aten::smooth_l1_loss", "smooth_l1_loss"},
      {"aten::soft_margin_loss", "soft_margin_loss"},
      {"aten::triplet_margin_loss", "triplet_margin_loss"},
  };
  return *table;
}

// Does the loss compare its first input, what was predicted, with its second, the labels?
bool compares(std::string_view name) {
  return name != "cosine_embedding_loss" && name != "margin_ranking_loss" && name != "triplet_margin_loss";
}

constexpr std::string_view kOtherLoss = "loss";  // of a program that computes its loss by hand

}  // namespace

class LossTap::Call : public OperatorCall {
 public:
  Call(LossTap& tap, std::string_view name) : tap_(tap), name_(name) {}
  void end(const at::RecordFunction& function) override {
    const auto outputs = tensors_in(function.outputs());
    if (outputs.empty()) return;
    tap_.any_in_step_ = true;
    tap_.losses_.save_output(tap_.losses_.loss(name_), outputs[0]);
  }

 private:
  LossTap& tap_;
  const std::string_view name_;
};

LossTap::LossTap(Hook& hook, Filter filter) : hook_(hook), filter_(std::move(filter)), losses_(hook) {}

void LossTap::begin_step() {
  any_in_step_ = false;
  losses_.begin_step();
  wants_inputs_ = hook_.wants_collection("predictions") || hook_.wants_collection("labels");
  if (wants_inputs_ || hook_.wants_collection("losses")) {
    listen();
  } else {
    stop();
  }
}

std::unique_ptr<OperatorCall> LossTap::begin_call(const at::RecordFunction& function) {
  const auto loss = loss_operators().find(function.name());
  if (loss == loss_operators().end() || !filter_()) return nullptr;
  if (wants_inputs_ && compares(loss->second)) save_inputs(function, loss->second);
  return std::make_unique<Call>(*this, loss->second);
}

void LossTap::save_inputs(const at::RecordFunction& function, std::string_view name) {
  const auto inputs = tensors_in(function.inputs());
  if (inputs.size() < 2) return;
  const std::size_t loss = losses_.loss(name);
  losses_.save_input(loss, inputs[0], "predictions");
  losses_.save_input(loss, inputs[1], "labels");
}

void LossTap::backward_begins(const std::vector<at::Tensor>& losses) {
  if (any_in_step_) return;
  for (const at::Tensor& loss : losses) losses_.save_output(losses_.loss(kOtherLoss), loss);
}

}  // namespace trainwarden::torch
