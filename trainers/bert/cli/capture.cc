#include "cli/capture.h"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "trainwarden/torch.h"

namespace bert {
namespace {

using trainwarden::Hook;
using trainwarden::HookOptions;
using trainwarden::KeepForm;
using trainwarden::Mode;
using trainwarden::SavePolicy;

constexpr std::string_view kTokens = "input_tokens";

std::string attention_name(std::size_t layer, std::string_view what) {
  return "bertencoder0_transformer" + std::to_string(layer) + "_multiheadattentioncell0_" + std::string(what);
}

SavePolicy each_evaluation() {
  SavePolicy policy;
  policy[Mode::kTrain] = {.end_step = 0};  // never
  policy[Mode::kEval] = {.save_interval = 1};
  return policy;
}

SavePolicy some_of_training() {
  SavePolicy policy;
  policy[Mode::kTrain] = {.save_interval = 10};
  policy[Mode::kEval] = {.end_step = 0};
  return policy;
}

std::string as_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

HookOptions own_options(const TrainOptions& options, const ModelConfig& config, const Progress& progress,
                        const Group& group) {
  HookOptions hook;
  hook.run_dir = (options.out / "run").string();
  hook.rank = group.rank();
  hook.world_size = group.size();
  hook.resume = progress.steps > 0;
  hook.first_global_step = progress.steps + progress.evaluations;
  hook.first_mode_steps[index_of(Mode::kTrain)] = progress.steps;
  hook.first_mode_steps[index_of(Mode::kEval)] = progress.evaluations;
  hook.collections = {
      {.name = "attention",
       .include = {R"(multiheadattentioncell0_((query|key)_output_0|output_1)$)", "^input_tokens$"},
       .save = each_evaluation(),
       .keep = KeepForm::whole()},
      {.name = "items",
       .include = {"_per_item$", "^class_names$"},
       .save = each_evaluation(),
       .keep = KeepForm::whole()},
      {.name = "labels", .include = {"^labels$"}, .save = each_evaluation(), .keep = KeepForm::whole()},
      {.name = "predictions", .include = {"^predictions$"}, .save = each_evaluation(), .keep = KeepForm::whole()},
      {.name = "trust", .include = {"^trust/"}, .save = some_of_training(), .keep = KeepForm::whole()},
      {.name = "weights", .save = some_of_training(), .keep = KeepForm::reduced()},
      {.name = "biases", .save = some_of_training(), .keep = KeepForm::reduced()},
      {.name = "gradients", .save = some_of_training(), .keep = KeepForm::reduced()},
      {.name = "losses", .save = SavePolicy::every(1)},
      {.name = "signals", .save = SavePolicy::every(1)},
  };
  hook.labels = {{"model", options.model.filename().string()},
                 {"num_hidden_layers", std::to_string(config.num_hidden_layers)},
                 {"dropout", as_text(config.hidden_dropout_prob)},
                 {"num_attention_heads", std::to_string(config.num_attention_heads)},
                 {"optimizer", options.optimizer},
                 {"learning_rate", as_text(options.learning_rate)},
                 {"batch_size", std::to_string(options.batch_size)},
                 {"global_batch", std::to_string(options.global_batch)},
                 {"ranks", std::to_string(group.size())},
                 {"seed", std::to_string(options.seed)},
                 {"total_steps", std::to_string(progress.total_steps)}};
  return hook;
}

}  // namespace

std::unique_ptr<Hook> open_hook(const TrainOptions& options, const ModelConfig& config, const Progress& progress,
                                const Group& group) {
  if (!options.use_hook) return Hook::disabled();
  auto configured = trainwarden::hook_options_from_environment(own_options(options, config, progress, group));
  if (!configured.ok()) throw std::invalid_argument(configured.status().to_string());
  if (!options.run_dir.empty()) configured->run_dir = options.run_dir.string();
  auto hook = Hook::open(*configured);
  if (!hook.ok()) {
    std::fprintf(stderr, "nothing is captured: %s\n", hook.status().to_string().c_str());
    return Hook::disabled();
  }
  std::printf("capturing into %s\n", configured->run_dir.c_str());
  return std::move(hook).value();
}

bool wants_attention(Hook& hook) {
  return hook.wants(attention_name(0, "output_1")) || hook.wants(attention_name(0, "query_output_0"));
}

void save_attention(Hook& hook, const std::vector<AttentionSeen>& layers) {
  const auto by_token = [](const at::Tensor& heads) { return heads.transpose(1, 2).flatten(2).contiguous(); };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    hook.save_tensor(attention_name(i, "query_output_0"), trainwarden::torch::view_of(by_token(layers[i].query)));
    hook.save_tensor(attention_name(i, "key_output_0"), trainwarden::torch::view_of(by_token(layers[i].key)));
    hook.save_tensor(attention_name(i, "output_1"), trainwarden::torch::view_of(layers[i].probabilities));
  }
}

void save_tokens(Hook& hook, const at::Tensor& ids, const Vocabulary& vocabulary) {
  if (!hook.wants(kTokens)) return;
  const at::Tensor flat = ids.to(at::kCPU, at::kLong).contiguous();
  std::vector<std::string_view> tokens;
  for (std::int64_t i = 0; i < flat.numel(); ++i) tokens.push_back(vocabulary.piece(flat.data_ptr<std::int64_t>()[i]));
  hook.save_tensor(kTokens, trainwarden::TensorView::of(tokens.data(), trainwarden::DType::kString,
                                                        trainwarden::Shape({flat.size(0), flat.size(1)})));
}

void save_signal(Hook& hook, std::string_view name, double value) {
  const std::array<std::string_view, 1> signals = {"signals"};
  const trainwarden::TensorId id = hook.declare(name, signals);
  hook.save_tensor(id, trainwarden::TensorView::of(&value, trainwarden::DType::kFloat64, trainwarden::Shape({})));
}

void save_text(Hook& hook, std::string_view name, std::string_view text) {
  const std::array<std::string_view, 1> signals = {"signals"};
  const trainwarden::TensorId id = hook.declare(name, signals);
  hook.save_tensor(id, trainwarden::TensorView::of(&text, trainwarden::DType::kString, trainwarden::Shape({1})));
}

void save_buckets(Hook& hook, const std::vector<BucketTimes>& buckets, std::int64_t backward_ended_ns) {
  const std::array<std::string_view, 1> signals = {"signals"};
  const trainwarden::TensorId id = hook.declare("trainwarden/gradient_sync/buckets", signals);
  if (!hook.wants(id)) return;
  const auto seconds = [&](std::int64_t ns) { return static_cast<double>(ns - backward_ended_ns) * 1e-9; };
  std::vector<double> rows;
  for (const BucketTimes& bucket : buckets) {
    rows.insert(rows.end(), {static_cast<double>(bucket.bytes), seconds(bucket.first_ns), seconds(bucket.ready_ns),
                             seconds(bucket.launched_ns), seconds(bucket.done_ns)});
  }
  const auto count = static_cast<std::int64_t>(buckets.size());
  hook.save_tensor(
      id, trainwarden::TensorView::of(rows.data(), trainwarden::DType::kFloat64, trainwarden::Shape({count, 5})));
}

}  // namespace bert
