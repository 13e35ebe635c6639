// The program bert_span_trainer: trains and evaluates a model for spans on batches of a file, a step for each line that
// it reads, and tells the loss and the time of each. rival.py does the same with PyTorch, and loss_curve_test.py and
// `./dev bench bert` compare them.
//
// Reads "train" or "evaluate", a line each. Writes a JSON object a line: first what it runs on, then an answer each.
#include <ctime>

#include <chrono>
#include <iostream>
#include <string>

#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "model/heads.h"
#include "training/adam.h"
#include "training/autocast.h"
#include "training/gradients.h"
#include "training/kept_memory.h"
#include "training/schedule.h"
#include "weights/loading.h"

namespace {

struct Options {
  std::string folder, batches;
  std::string device = "cpu", precision = "float32";
  int threads = 2;
  double max_norm = 1;
  double weight_decay = 0.01;
  bool skip_padding = false;
  bert::Schedule schedule;
};

struct Told {
  double loss = 0;
  double norm = 0;  // of the gradients, before they are clipped; 0 in evaluation
};

bert::BertForSpans load_model(const std::string& folder, const at::Device& device) {
  const bert::ModelConfig config = bert::read_config(folder);
  bert::BertForSpans model(config);
  bert::load_weights(*model, config, bert::read_model_tensors(folder), folder);
  model->eval();  // dropout off, or there would be nothing to compare
  model->to(device);
  return model;
}

bert::TensorsByName load_batches(const std::string& file, const at::Device& device) {
  bert::TensorsByName batches = bert::read_safetensors(file);
  for (auto& [name, tensor] : batches) tensor = tensor.to(device);
  return batches;
}

bert::NamedTensors parameters_of(const torch::nn::Module& module) {
  bert::NamedTensors all;
  for (const auto& each : module.named_parameters()) all.emplace_back(each.key(), each.value());
  return all;
}

bert::AdamOptions adam_options(const Options& options) {
  bert::AdamOptions adam{.weight_decay = options.weight_decay};
  adam.no_decay = bert::bert_exclusions();
  return adam;
}

class SpanTrainer {
 public:
  explicit SpanTrainer(const Options& options)
      : options_(options),
        device_(options.device),
        precision_(options.precision == "bfloat16" ? at::kBFloat16 : at::kFloat),
        model_(load_model(options.folder, device_)),
        parameters_(parameters_of(*model_)),
        optimizer_(parameters_, adam_options(options)),
        batches_(load_batches(options.batches, device_)) {
    options_.schedule.check();
  }

  Told train() {
    optimizer_.zero_grad();
    const at::Tensor loss = forward();
    loss.backward();
    const bert::Clipping clip = bert::clipping(bert::gradient_norm(parameters_), options_.max_norm);
    optimizer_.step(options_.schedule.learning_rate(step_), clip.factor);
    ++step_;
    return {loss.item<double>(), clip.norm};
  }

  // On the batch that train() would take next.
  Told evaluate() {
    const torch::NoGradGuard no_grad;
    return {forward().item<double>(), 0};
  }

 private:
  at::Tensor of_this_step(const char* name) const {
    const at::Tensor& all = batches_.at(name);
    return all[step_ % all.size(0)];
  }

  // The loss: the mean of the cross entropies of starts and ends.
  at::Tensor forward() {
    const bert::AutocastScope autocast(device_.type(), precision_);
    const bert::Inputs inputs{of_this_step("ids"), of_this_step("mask"), of_this_step("types")};
    const at::Tensor logits = model_->forward(inputs, {.skip_padding = options_.skip_padding});
    const at::Tensor by_kind = logits.to(at::kFloat);
    return (at::cross_entropy_loss(by_kind.select(2, 0), of_this_step("starts")) +
            at::cross_entropy_loss(by_kind.select(2, 1), of_this_step("ends"))) /
           2;
  }

  const Options options_;
  const at::Device device_;
  const at::ScalarType precision_;
  bert::BertForSpans model_;
  const bert::NamedTensors parameters_;
  bert::Adam optimizer_;
  const bert::TensorsByName batches_;
  std::int64_t step_ = 0;
};

// Seconds of all threads.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void answer_commands(SpanTrainer& trainer) {
  for (std::string command; std::getline(std::cin, command);) {
    if (command != "train" && command != "evaluate") {
      throw std::runtime_error("expected train or evaluate, found \"" + command + "\"");
    }
    const auto begin = std::chrono::steady_clock::now();
    const double cpu_begin = cpu_seconds();
    const Told told = command == "train" ? trainer.train() : trainer.evaluate();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::cout << nlohmann::json{{"loss", told.loss},
                                {"norm", told.norm},
                                {"seconds", seconds.count()},
                                {"cpu_seconds", cpu_seconds() - cpu_begin}}
              << std::endl;
  }
}

void run(const Options& options) {
  bert::keep_freed_memory();
  at::set_num_threads(options.threads);
  SpanTrainer trainer(options);
  std::cout << nlohmann::json{{"name", "bert"}, {"torch", TORCH_VERSION}} << std::endl;
  answer_commands(trainer);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Trains a BERT for spans on batches of a safetensors file: ids, mask, types [N, B, T], starts, ends [N, B]");
  app.add_option("folder", options.folder, "config.json and weights, with qa_outputs")->required();
  app.add_option("batches", options.batches)->required();
  app.add_option("--device", options.device)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--precision", options.precision)->check(CLI::IsMember({"float32", "bfloat16"}));
  app.add_option("--threads", options.threads);
  app.add_option("--learning-rate", options.schedule.peak);
  app.add_option("--warmup-steps", options.schedule.warmup_steps);
  app.add_option("--steps", options.schedule.total_steps, "After which the learning rate is 0")->required();
  app.add_option("--weight-decay", options.weight_decay);
  app.add_option("--max-norm", options.max_norm);
  app.add_flag("--skip-padding", options.skip_padding);
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::cerr << "bert_span_trainer: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
