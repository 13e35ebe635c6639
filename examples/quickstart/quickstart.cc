// The program of docs/guide/cpp.md: a small network learns the sine, and Trainwarden looks on.
#include <torch/torch.h>

#include <cstdio>
#include <utility>

#include "trainwarden/hook.h"
#include "trainwarden/torch.h"

int main() {
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(1, 32), torch::nn::Tanh(), torch::nn::Linear(32, 1));
  torch::optim::Adam optimizer(net->parameters(), 0.01);

  // What to capture: by default losses only, every 500th step.
  trainwarden::HookOptions options;
  options.run_dir = "runs/sine";
  options.include_collections = {"weights", "gradients", "outputs"};
  options.save = trainwarden::SavePolicy::every(10);
  const auto configured = trainwarden::hook_options_from_environment(options);
  if (!configured.ok()) {
    std::fprintf(stderr, "%s\n", configured.status().to_string().c_str());
    return 2;
  }

  // A training that cannot be captured is still a training.
  auto opened = trainwarden::Hook::open(*configured);
  if (!opened.ok()) std::fprintf(stderr, "nothing is captured: %s\n", opened.status().to_string().c_str());
  const auto hook = opened.ok() ? std::move(*opened) : trainwarden::Hook::disabled();

  auto watcher = trainwarden::torch::watch(*hook, *net);
  watcher.watch_optimizer(optimizer);
  for (int step = 0; step < 500; ++step) {
    const torch::Tensor x = torch::rand({64, 1}) * 6 - 3;
    optimizer.zero_grad();
    const torch::Tensor loss = watcher.loss("MSELoss", torch::mse_loss(net->forward(x), x.sin()));
    loss.backward();
    optimizer.step();
    if (watcher.end_step().stop_requested) break;
  }
}
