// The network: two convolutions and two fully connected layers.
#pragma once

#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "trainwarden/torch.h"

namespace fashion_mnist {

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("conv0", conv0);
    register_module("conv1", conv1);
    register_module("fc0", fc0);
    register_module("fc1", fc1);
    for (auto& parameter : named_parameters()) {
      if (parameter.key().ends_with(".weight")) {
        torch::nn::init::kaiming_uniform_(*parameter, 0, torch::kFanIn, torch::kReLU);
      } else {
        torch::nn::init::zeros_(*parameter);
      }
    }
  }

  // `images`: float32, [batch, 1, 28, 28]. Gives a score for each of the ten kinds of garment. A ReLU has no parameters
  // by which a watcher could know it, so the one worth looking at is named.
  torch::Tensor forward(const torch::Tensor& images, trainwarden::torch::Watcher* watcher = nullptr) {
    const auto relu = [](const torch::Tensor& x) { return torch::relu(x); };
    torch::Tensor x = conv0(images);
    x = watcher != nullptr ? watcher->observe("conv0_relu", relu, x) : relu(x);
    x = torch::max_pool2d(x, 2);
    x = torch::max_pool2d(relu(conv1(x)), 2);
    x = relu(fc0(x.flatten(1)));
    return fc1(x);
  }

  torch::nn::Conv2d conv0{torch::nn::Conv2dOptions(1, 20, 5)};
  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(20, 50, 5)};
  torch::nn::Linear fc0{50 * 4 * 4, 500};
  torch::nn::Linear fc1{500, 10};
};
TORCH_MODULE(Net);

}  // namespace fashion_mnist
