// The example of the README around a net of one layer: it trains, and a gradient of it can be read back.
#include <torch/torch.h>
#include <trainwarden/torch.h>
#include <trainwarden/trial.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

struct Net : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return torch::log_softmax(fc->forward(x), 1); }
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(4, 3));
};

void train() {
  using Batch = torch::data::Example<>;
  const std::vector<Batch> batches(2, Batch(torch::rand({8, 4}), torch::zeros({8}, torch::kLong)));
  const auto* loader = &batches;
  auto net = std::make_shared<Net>();
  torch::optim::SGD optimizer(net->parameters(), 0.1);
#include README_EXAMPLE
}

}  // namespace

int main() {
  train();
  auto trial = trainwarden::Trial::open("runs/first");
  const auto status = trial.ok() ? (*trial)->value("gradient/fc.weight", 0).status() : trial.status();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
