// TrainingSignals: gathers them and writes them with the step.
#include "training_signals.h"

#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include <unistd.h>

namespace trainwarden::torch {
namespace {

constexpr std::size_t kMostCalls = 256;
constexpr std::array<std::string_view, 1> kSignals = {"signals"};

// As docs/format/signals.md numbers them.
constexpr std::uint8_t kBackward = 2;
constexpr std::uint8_t kStep = 3;
constexpr std::uint8_t kZeroGrad = 4;

// What is resident of this process and not shared with others; none when the system does not say.
std::optional<double> private_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"), &std::fclose);
  unsigned long long size = 0, resident = 0, shared = 0;
  if (!file || std::fscanf(file.get(), "%llu %llu %llu", &size, &resident, &shared) != 3) return std::nullopt;
  return static_cast<double>(resident - shared) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void TrainingSignals::backward_begins() {
  if (calls_.size() < kMostCalls) calls_.push_back(kBackward);
}

void TrainingSignals::gradients_cleared() {
  if (calls_.size() < kMostCalls) calls_.push_back(kZeroGrad);
}

void TrainingSignals::step_begins(const ::torch::optim::Optimizer& optimizer) {
  if (calls_.size() < kMostCalls) calls_.push_back(kStep);
  if (!hook_.wants_collection("signals")) return;
  std::size_t group = 0;
  for (const ::torch::optim::OptimizerParamGroup& each : optimizer.param_groups()) {
    const std::pair<const void*, std::size_t> key(&optimizer, group++);
    numbers_.try_emplace(key, numbers_.size());
    try {
      rates_[key] = each.options().get_lr();
    } catch (const c10::Error&) {  // options of the program's own, which need not have it
      rates_.erase(key);
    }
  }
}

void TrainingSignals::end_step() {
  const auto now = std::chrono::steady_clock::now();
  const auto before = std::exchange(last_end_, now);
  if (hook_.wants_collection("signals")) {
    if (before) save("trainwarden/step_seconds", std::chrono::duration<double>(now - *before).count());
    hook_.save_step_times();
    if (const auto bytes = private_bytes()) save("trainwarden/memory/host_bytes", *bytes);
    save_calls();
    save_learning_rates();
  }
  calls_.clear();
  rates_.clear();
}

void TrainingSignals::save(std::string_view name, double value) {
  hook_.declare(name, kSignals);
  hook_.save_scalar(name, value);
}

void TrainingSignals::save_calls() {
  if (calls_.empty()) return;
  const TensorId id = hook_.declare("trainwarden/calls", kSignals);
  TensorView view;
  view.data = calls_.data();
  view.dtype = DType::kUInt8;
  view.shape = Shape{static_cast<std::int64_t>(calls_.size())};
  hook_.save_tensor(id, view);
}

void TrainingSignals::save_learning_rates() {
  for (const auto& [key, rate] : rates_) {
    save("trainwarden/learning_rate/" + std::to_string(numbers_.at(key)), rate);
  }
}

}  // namespace trainwarden::torch
