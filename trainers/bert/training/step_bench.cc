// bert_step_bench: milliseconds of one step of our AdamW and LAMB beside torch::optim::AdamW, for MiniLM's and
// BERT-base's shapes.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <torch/optim/adamw.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "training/adam.h"
#include "training/gradients.h"
#include "training/lamb.h"

namespace {

constexpr int kRounds = 15;

bert::NamedTensors shapes_of_bert(std::int64_t layers, std::int64_t hidden) {
  bert::NamedTensors all;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    at::Tensor parameter = at::randn(shape) * 0.02;
    parameter.requires_grad_(true);
    parameter.mutable_grad() = at::randn(shape) * 1e-3;
    all.emplace_back(name, parameter);
  };
  const auto dense = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".LayerNorm.weight", {hidden});
    add(name + ".LayerNorm.bias", {hidden});
  };
  add("word_embeddings", {30522, hidden});
  add("position_embeddings", {512, hidden});
  add("token_type_embeddings", {2, hidden});
  norm("embeddings");
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = "layer." + std::to_string(layer) + ".";
    for (const char* part : {"query", "key", "value", "output"}) dense(name + part, hidden, hidden);
    norm(name + "attention");
    dense(name + "intermediate", 4 * hidden, hidden);
    dense(name + "down", hidden, 4 * hidden);
    norm(name + "output");
  }
  dense("qa_outputs", 2, hidden);
  return all;
}

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

struct Timed {
  const char* name;
  std::function<void()> work;
  std::vector<double> times = {};
};

// In turns, so that whatever else the machine does falls on all alike.
void compare(const char* title, std::int64_t layers, std::int64_t hidden) {
  const bert::NamedTensors ours = shapes_of_bert(layers, hidden);
  const bert::NamedTensors rivals = shapes_of_bert(layers, hidden);
  std::vector<at::Tensor> tensors;
  std::int64_t numbers = 0;
  for (const auto& [name, tensor] : rivals) {
    tensors.push_back(tensor);
    numbers += tensor.numel();
  }
  bert::Adam adam(ours, {});
  bert::Adam operators(ours, {.loops = bert::StepLoops::kForeach});
  bert::Lamb lamb(ours, {});
  torch::optim::AdamW rival(tensors, torch::optim::AdamWOptions(1e-5));
  std::vector<Timed> all{{"torch::optim::AdamW", [&] { rival.step(); }},
                         {"AdamW, fused", [&] { adam.step(1e-5); }},
                         {"AdamW, operators", [&] { operators.step(1e-5); }},
                         {"LAMB, fused", [&] { lamb.step(1e-5); }},
                         {"norm of gradients", [&] { bert::gradient_norm(ours); }}};
  for (Timed& each : all) each.work();
  for (int round = 0; round < kRounds; ++round) {
    for (Timed& each : all) each.times.push_back(milliseconds_of(each.work));
  }
  std::printf("%s: %zu parameters, %.1f million numbers\n", title, ours.size(), static_cast<double>(numbers) / 1e6);
  double first = 0;
  for (Timed& each : all) {
    std::sort(each.times.begin(), each.times.end());
    const double median = each.times[kRounds / 2];
    if (first == 0) first = median;
    std::printf("  %-20s %8.2f ms (%.2f to %.2f), torch's time / its: %.2f\n", each.name, median, each.times.front(),
                each.times.back(), first / median);
  }
}

}  // namespace

int main() {
  std::printf("LibTorch %d.%d.%d, %d threads, median of %d\n", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR,
              TORCH_VERSION_PATCH, at::get_num_threads(), kRounds);
  compare("MiniLM, 6 layers of 384", 6, 384);
  compare("BERT-base", 12, 768);
  return EXIT_SUCCESS;
}
