// The program bert_model_bench: how long the encoder with the head for spans takes, for comparison with model_bench.py,
// which times PyTorch on the same tokens.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <CLI/CLI.hpp>

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

struct Times {
  double wall_s;
  double cpu_s;  // of all threads: what counts where others use the machine too
};

// The middle ones of `repeats` calls, after one that is not counted.
template <class Call>
Times times_of(int repeats, Call call) {
  call();
  std::vector<double> wall, cpu;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    call();
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu.push_back(static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  return {wall[wall.size() / 2], cpu[cpu.size() / 2]};
}

void run(const Options& options) {
  at::set_num_threads(options.threads);
  bert::ModelConfig config = bert::read_config(options.folder);
  bert::BertForSpans model(config);
  bert::load_weights(*model, config, bert::read_model_tensors(options.folder), options.folder);
  const bert::TensorsByName tensors = bert::read_safetensors(options.input);
  const bert::Inputs inputs{tensors.at("ids"), tensors.at("mask"), tensors.at("types")};
  model->eval();  // dropout off, as in the comparison
  double loss_value = 0;
  const Times training = times_of(options.repeats, [&] {
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
  const Times evaluation = times_of(options.repeats, [&] {
    const torch::NoGradGuard no_grad;
    model->forward(inputs, {.skip_padding = options.skip_padding});
  });
  std::printf("loss %.7f gradient %.6f training_s %.4f (cpu %.4f) evaluation_s %.4f (cpu %.4f)\n", loss_value,
              std::sqrt(squares), training.wall_s, training.cpu_s, evaluation.wall_s, evaluation.cpu_s);
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
