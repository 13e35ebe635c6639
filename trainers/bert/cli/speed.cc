// How fast the model trains and answers, on batches that another program can read: bench/torch/bert_speed.py compares.
//
//   bert_speed --model FOLDER --data FILE --batches BATCHES.safetensors [--count N] [--batch-size B] [--length T]
//
// Makes the batches of the first questions that fill them, writes them, and times forward passes without gradients, then
// steps of AdamW without dropout. Prints JSON: seconds of each, and the losses and norms of gradients of the steps, which
// another program must find, too.
#include <chrono>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <c10/core/InferenceMode.h>
#include <nlohmann/json.hpp>
#include <torch/version.h>

#include "cli/setup.h"
#include "cli/span_data.h"
#include "model/heads.h"
#include "training/adam.h"
#include "training/determinism.h"
#include "training/gradients.h"
#include "weights/loading.h"

namespace bert {
namespace {

struct SpeedOptions {
  std::filesystem::path model, data, batches;
  std::int64_t count = 6, batch_size = 8, length = 384;
  int threads = 2;
  bool skip_padding = false;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<SpanBatch> make_batches(const SpeedOptions& options, std::vector<Window>& windows) {
  const Tokenizer tokenizer = Tokenizer::load(options.model, {});
  const std::vector<Question> questions = read_questions(options.data).all;
  const auto wanted = static_cast<std::size_t>(options.count * options.batch_size);
  const WindowOptions window_options = {.max_length = static_cast<std::size_t>(options.length)};
  for (std::size_t i = 0; windows.size() < wanted && i < questions.size(); ++i) {
    for (Window& window : windows_of(questions[i], i, tokenizer, window_options, Labels::kFirstAnswer)) {
      windows.push_back(std::move(window));
    }
  }
  std::vector<SpanBatch> batches;
  for (std::int64_t batch = 0; batch < options.count; ++batch) {
    std::vector<const Window*> chosen;
    for (std::int64_t i = 0; i < options.batch_size; ++i) {
      chosen.push_back(&windows.at(static_cast<std::size_t>(batch * options.batch_size + i)));
    }
    batches.push_back(make_batch(chosen, tokenizer.vocabulary().padding(), at::kCPU, options.length));
  }
  return batches;
}

void write_batches(const std::filesystem::path& file, const std::vector<SpanBatch>& batches) {
  TensorsByName tensors;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const std::string number = std::to_string(i);
    tensors["ids." + number] = batches[i].inputs.ids;
    tensors["mask." + number] = batches[i].inputs.attention_mask;
    tensors["types." + number] = batches[i].inputs.token_types;
    tensors["starts." + number] = batches[i].starts;
    tensors["ends." + number] = batches[i].ends;
  }
  write_safetensors(file, tensors);
}

nlohmann::ordered_json time_answers(BertForSpans& model, const std::vector<SpanBatch>& batches, bool skip_padding) {
  const c10::InferenceMode inference;
  model->eval();
  std::vector<double> seconds;
  for (const SpanBatch& batch : batches) {
    seconds.push_back(seconds_of([&] { model->forward(batch.inputs, {.skip_padding = skip_padding}); }));
  }
  return seconds;
}

nlohmann::ordered_json time_steps(BertForSpans& model, const std::vector<SpanBatch>& batches, bool skip_padding) {
  model->train();
  AdamOptions adam;
  adam.weight_decay = 0.01;
  Adam optimizer(named_parameters(*model), adam);
  std::vector<double> seconds, losses, norms;
  for (const SpanBatch& batch : batches) {
    at::Tensor loss;
    seconds.push_back(seconds_of([&] {
      optimizer.zero_grad();
      const auto real = batch.starts.size(0);
      loss = span_loss(model->forward(batch.inputs, {.skip_padding = skip_padding}), batch, real, static_cast<double>(real));
      loss.backward();
      const Clipping clip = clipping(gradient_norm(named_parameters(*model)), 1.0);
      norms.push_back(clip.norm);
      optimizer.step(1e-5, clip.factor);
    }));
    losses.push_back(loss.item<double>());
  }
  return {{"seconds", seconds}, {"losses", losses}, {"norms", norms}};
}

void run(const SpeedOptions& options) {
  at::set_num_threads(options.threads);
  seed_all(1);
  ModelConfig config = read_config(options.model);
  config.hidden_dropout_prob = config.attention_probs_dropout_prob = config.span_dropout_prob = 0;
  std::vector<Window> windows;
  const std::vector<SpanBatch> batches = make_batches(options, windows);
  write_batches(options.batches, batches);
  BertForSpans model(config);
  TensorsByName tensors = read_model_tensors(options.model);
  load_weights(*model, config, tensors, options.model.string());
  const nlohmann::ordered_json figures = {{"libtorch", TORCH_VERSION},
                                          {"answers", {{"seconds", time_answers(model, batches, options.skip_padding)}}},
                                          {"train", time_steps(model, batches, options.skip_padding)}};
  std::printf("%s\n", figures.dump().c_str());
}

}  // namespace
}  // namespace bert

int main(int argc, char** argv) {
  bert::SpeedOptions options;
  CLI::App app("Times a BERT model on batches that it writes for others");
  app.add_option("--model", options.model, "folder of the model, with a head for answers")->required();
  app.add_option("--data", options.data, "file of questions")->required();
  app.add_option("--batches", options.batches, "gets the batches, as safetensors")->required();
  app.add_option("--count", options.count, "of batches")->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "windows of each")->capture_default_str();
  app.add_option("--length", options.length, "pieces of each window, with padding")->capture_default_str();
  app.add_option("--threads", options.threads, "of LibTorch")->capture_default_str();
  app.add_flag("--skip-padding", options.skip_padding, "compute nothing for padding");
  CLI11_PARSE(app, argc, argv);
  try {
    bert::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bert_speed: %s\n", error.what());
    return 1;
  }
}
