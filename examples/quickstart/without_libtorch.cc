// The second program of docs/guide/cpp.md: numbers that no framework made.
#include <cstdio>
#include <vector>

#include "trainwarden/hook.h"

int main() {
  trainwarden::HookOptions options;
  options.run_dir = "runs/fit";
  options.include = {"^parameters$"};
  options.save = trainwarden::SavePolicy::every(1);
  auto hook = trainwarden::Hook::open(options);
  if (!hook.ok()) {
    std::fprintf(stderr, "%s\n", hook.status().to_string().c_str());
    return 1;
  }

  // Fits y = a·x + b to the line 2·x + 1.
  std::vector<float> parameters = {0, 0};
  for (int step = 0; step < 100; ++step) {
    const float x = static_cast<float>(step % 10) / 10;
    const float error = parameters[0] * x + parameters[1] - (2 * x + 1);
    parameters[0] -= 0.5F * error * x;
    parameters[1] -= 0.5F * error;

    (*hook)->save_scalar("error", error);
    const trainwarden::Shape shape = {2};
    (*hook)->save_tensor("parameters",
                         trainwarden::TensorView::of(parameters.data(), trainwarden::DType::kFloat32, shape));
    if ((*hook)->end_step().stop_requested) break;
  }
}
