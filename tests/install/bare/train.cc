// A training that diverges: what the package of headers, library and program must see on a bare system.
#include <trainwarden/trainwarden.h>

#include <array>
#include <cstdio>

int main() {
  auto hook = trainwarden::Hook::open({.run_dir = "runs/diverging", .save_all = true});
  if (!hook.ok()) {
    std::fprintf(stderr, "%s\n", hook.status().to_string().c_str());
    return 1;
  }
  std::array<double, 2> weights = {1.0, -1.0};
  for (int step = 0; step < 60; ++step) {
    (*hook)->save_scalar("loss", weights[0] * weights[0]);
    (*hook)->save_tensor("weights", trainwarden::TensorView::of(weights.data(), trainwarden::DType::kFloat64, {2}));
    for (double& weight : weights) weight *= -2.0;
    (*hook)->end_step();
  }
  return (*hook)->close().ok() ? 0 : 1;
}
