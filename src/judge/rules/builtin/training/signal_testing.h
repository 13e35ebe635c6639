// Steps with signals, for the tests of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/builtin/rule_testing.h"
#include "judge/rules/signals.h"

namespace trainwarden::rules {

inline TestTensor signal(std::string_view name, double value) {
  return scalar(std::string(name), static_cast<float>(value), {std::string(signals::kCollection)});
}

// "z": zero_grad, "f": forward, "b": backward, "s": step, "c": clip, "u": unscale.
inline TestTensor calls(std::string_view letters) {
  std::vector<float> codes;
  for (const char letter : letters) codes.push_back(static_cast<float>(std::string_view("fbszcu").find(letter) + 1));
  return kept(std::string(signals::kCalls), codes, {std::string(signals::kCollection)});
}

inline TestTensor text_signal(std::string_view name, const std::string& json) {
  TestTensor tensor = strings(std::string(name), {json});
  tensor.collections = {std::string(signals::kCollection)};
  return tensor;
}

// trainwarden/optimizer with so many optimizers.
inline TestTensor optimizers(int count) {
  std::string listed;
  for (int i = 0; i < count; ++i) {
    listed += std::string(i > 0 ? "," : "") + R"({"kind": "SGD", "groups": [{"parameters": 2, "lr": 0.1}]})";
  }
  return text_signal(signals::kOptimizer, R"({"optimizers": [)" + listed + "]}");
}

}  // namespace trainwarden::rules
