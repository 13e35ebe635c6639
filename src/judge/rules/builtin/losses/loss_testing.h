// Runs with one loss, for the tests of the rules about losses.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "read/trial/run_testing.h"

namespace trainwarden::rules {

using LossAt = std::function<double(std::int64_t step)>;

// One loss for each step from 0 on, with what `more` adds.
inline TestRun loss_run(
    std::int64_t steps, const LossAt& loss,
    const std::function<std::vector<TestTensor>(std::int64_t)>& more = [](std::int64_t) {
      return std::vector<TestTensor>();
    }) {
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<TestTensor> tensors = more(step);
    tensors.push_back(scalar("loss", static_cast<float>(loss(step)), {"losses"}));
    run.add({.step = step, .tensors = std::move(tensors)});
  }
  return run;
}

// The same noise for every test: standard normal, one number for each step.
inline double noise(std::int64_t step) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(step) + 17);
  engine.discard(3);
  return std::normal_distribution<double>()(engine);
}

inline TestTensor learning_rate(double rate) {
  return scalar("trainwarden/learning_rate/0", static_cast<float>(rate), {"signals"});
}

inline TestTensor two_optimizers() {
  return strings("trainwarden/optimizer",
                 {R"({"optimizers": [{"kind": "Adam", "groups": []}, {"kind": "Adam", "groups": []}]})"}, {"signals"});
}

}  // namespace trainwarden::rules
