// A healthy training of 1,000 tensors, and what a benchmark of the rules has it record.
#pragma once

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainwarden/hook.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::bench {

// A benchmark that cannot do its work has no figure.
template <class T>
T required(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return std::move(result).value();
}
inline void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

inline constexpr int kLayers = 100;  // of ten tensors each

// A healthy training of 1,000 tensors: what it computes is noise that changes from step to step.
class Training {
 public:
  explicit Training(Hook& hook, std::size_t elements = 64) : hook_(hook), noise_(elements + 1024) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0f, 1.0f);
    for (float& value : noise_) value = normal(random);
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const char* part : {"weight", "bias", "norm.weight"}) {
        const std::string name = fmt::format("encoder.layer.{}.attention.{}", layer, part);
        declare(name, "weights");
        declare("gradient/" + name, "gradients");
      }
      for (int call = 0; call < 4; ++call) declare(fmt::format("encoder.layer.{}_output_{}", layer, call), "outputs");
    }
    elements_ = elements;
    hook_.set_mode(Mode::kTrain);
  }

  // Everything but the weights, which come when the optimizer has stepped.
  void forward_and_backward() {
    ++step_;
    const float loss = 2.0f / (1.0f + 0.01f * static_cast<float>(step_)) + 0.01f * noise_[step_ % 64];
    constexpr std::string_view kLosses[] = {"losses"};
    hook_.save_tensor(hook_.declare("CrossEntropyLoss_output_0", kLosses),
                      TensorView::of(&loss, DType::kFloat32, Shape({1})));
    save("outputs");
    save("gradients");
  }
  void optimizer_steps() { save("weights"); }

 private:
  void declare(const std::string& name, const char* collection) {
    const std::string_view collections[] = {collection};
    ids_[collection].push_back(hook_.declare(name, collections));
  }
  void save(const char* collection) {
    std::size_t place = step_;
    for (const TensorId id : ids_[collection]) {
      hook_.save_tensor(id, TensorView::of(noise_.data() + (place++ * 7 + step_ * 13) % 1024, DType::kFloat32,
                                           Shape({static_cast<std::int64_t>(elements_)})));
    }
  }

  Hook& hook_;
  std::vector<float> noise_;
  std::size_t elements_ = 0;
  std::size_t step_ = 0;
  std::map<std::string, std::vector<TensorId>> ids_;
};

inline HookOptions statistics_of_everything() {
  HookOptions options;
  options.include_collections = {"losses", "weights", "gradients", "outputs"};
  options.save = SavePolicy::every(1);
  options.keep = KeepForm::reduced();
  options.when_full = WhenFull::kBlock;
  return options;
}

inline std::vector<RuleSpec> default_rules() {
  std::vector<RuleSpec> specs;
  for (const RuleKind& kind : builtin_rules()) {
    if (kind.description.by_default) specs.push_back({kind.description.name, {}});
  }
  return specs;
}

}  // namespace trainwarden::bench
