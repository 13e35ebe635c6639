// The program bert_model_bench: how long the encoder with the head for spans takes, for comparison with model_bench.py,
// which times PyTorch on the same tokens.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <torch/types.h>
#include <torch/utils.h>

#include "model/heads.h"
#include "weights/loading.h"

namespace {

struct Options {
  std::string folder, input;
  int threads = 2;
  int repeats = 5;
  bool skip_padding = false;
};

// The mean of the cross entropies of starts and ends.
at::Tensor span_loss(const at::Tensor& logits, const at::Tensor& starts, const at::Tensor& ends) {
  return (at::cross_entropy_loss(logits.select(2, 0), starts) + at::cross_entropy_loss(logits.select(2, 1), ends)) / 2;
}

// The middle one of the times of `repeats` calls, in seconds, after one that is not counted.
template <class Call>
double time_of(int repeats, Call call) {
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  seconds.erase(seconds.begin());
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void run(const Options& options) {
  at::set_num_threads(options.threads);
  bert::ModelConfig config = bert::read_config(options.folder);
  bert::BertForSpans model(config);
  bert::load_weights(*model, config, bert::read_model_tensors(options.folder), options.folder);
  const bert::NamedTensors tensors = bert::read_safetensors(options.input);
  const bert::Inputs inputs{tensors.at("ids"), tensors.at("mask"), tensors.at("types")};
  model->eval();  // dropout off, as in the comparison
  double loss_value = 0;
  const double training = time_of(options.repeats, [&] {
    model->zero_grad(true);
    const at::Tensor logits = model->forward(inputs, {.skip_padding = options.skip_padding});
    const at::Tensor loss = span_loss(logits, tensors.at("starts"), tensors.at("ends"));
    loss.backward();
    loss_value = loss.item<double>();
  });
  double squares = 0;
  for (const auto& parameter : model->parameters()) {
    if (parameter.grad().defined()) squares += parameter.grad().square().sum().item<double>();
  }
  const double evaluation = time_of(options.repeats, [&] {
    const torch::NoGradGuard no_grad;
    model->forward(inputs, {.skip_padding = options.skip_padding});
  });
  std::printf("loss %.7f gradient %.6f training_s %.4f evaluation_s %.4f\n", loss_value, std::sqrt(squares), training,
              evaluation);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times a BERT for spans on tokens of a safetensors file: ids, mask, types [B, T], starts, ends [B]");
  app.add_option("folder", options.folder, "config.json and weights, with qa_outputs")->required();
  app.add_option("input", options.input)->required();
  app.add_option("--threads", options.threads);
  app.add_option("--repeats", options.repeats)->check(CLI::Range(1, 1000));
  app.add_flag("--skip-padding", options.skip_padding);
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bert_model_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
