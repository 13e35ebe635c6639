// sample_runs: writes runs for the tests and the benchmarks of the page, through the real hook. Every number follows
// from its place (run, step, tensor, element), so that a test can compute what the page has to show.
//
//   sample_runs training FOLDER [STEPS]     losses, weights, gradients, kernels, activations, labels, predictions,
//   texts sample_runs apart FOLDER [STEPS]        the same; from step 40 on its weights are others sample_runs live
//   FOLDER [STEPS]         the same, a step for each line on standard input; answers "STEP UNIX_NS"
//                                           when the step can be read
//   sample_runs attention FOLDER [STEPS]    3 layers of 4 heads on 24 tokens, two of them grouped, at evaluation steps
//   sample_runs live-attention FOLDER       the same, a step for each line on standard input, as live
//   sample_runs long FOLDER TOKENS          queries and keys of 2 layers of 4 heads, and nothing else
//   sample_runs head FOLDER TOKENS          one layer of 12 heads, its probabilities captured
//   sample_runs series FOLDER POINTS        a scalar at each step
//   sample_runs tensors FOLDER COUNT        statistics of many tensors at two steps
//   sample_runs layers FOLDER STEPS         statistics of the gradients of 300 layers at each step, one of them NaN
//   sample_runs many FOLDER COUNT           a folder of that many short runs
//   sample_runs hostile FOLDER              names that try to be markup and terminal commands
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainwarden/hook.h"

namespace {

namespace fs = std::filesystem;
using trainwarden::Collection;
using trainwarden::DType;
using trainwarden::Hook;
using trainwarden::HookOptions;
using trainwarden::KeepForm;
using trainwarden::Mode;
using trainwarden::OperatorKind;
using trainwarden::OperatorRecorder;
using trainwarden::SavePolicy;
using trainwarden::Shape;
using trainwarden::TensorView;

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "sample_runs: {}\n", message);
  std::exit(1);
}

// Between -1 and 1, the same on every machine: of the 24 top bits of a mixed number.
float noise(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t x =
      a * 0x9e3779b97f4a7c15ULL ^ (b + 0x7f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL ^ (c + 1) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  return static_cast<float>(x >> 40) / static_cast<float>(1 << 23) - 1.0F;
}

HookOptions everything(const fs::path& folder) {
  HookOptions options;
  options.run_dir = folder;
  options.save_all = true;
  options.save = SavePolicy::every(1);
  options.when_full = trainwarden::WhenFull::kBlock;  // a test waits for all of it
  options.collections = {{.name = "losses", .include = {"loss$"}}};
  return options;
}

std::unique_ptr<Hook> open(HookOptions options) {
  auto hook = Hook::open(std::move(options));
  if (!hook.ok()) fail(hook.status().to_string());
  return *std::move(hook);
}

void close(Hook& hook) {
  const auto closed = hook.close();
  if (!closed.ok()) fail(closed.to_string());
  if (!hook.report().losses.empty()) fail("the hook lost something: " + hook.report().losses[0].first_message);
}

void save(Hook& hook, std::string_view name, const std::vector<float>& values, const Shape& shape) {
  hook.save_tensor(name, TensorView::of(values.data(), DType::kFloat32, shape));
}

std::vector<float> filled(std::size_t count, const std::function<float(std::size_t)>& value) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

// --- a training -----------------------------------------------------------------------------------------------------

constexpr std::int64_t kEvalEvery = 5;
constexpr std::int64_t kNanStep = 17;
constexpr std::int64_t kPartStep = 40;
constexpr std::size_t kBatch = 32;
constexpr std::size_t kClasses = 4;

void save_layers(Hook& hook, std::int64_t step, bool apart) {
  const auto s = static_cast<std::uint64_t>(step);
  const float drift = apart && step >= kPartStep ? 0.5F : 0.0F;
  const float age = static_cast<float>(step) / 50.0F;
  save(hook, "conv1.weight",
       filled(8 * 3 * 3, [&](std::size_t i) { return noise(1, i, 0) + age * noise(2, i, 0) + drift; }), {8, 1, 3, 3});
  save(hook, "gradient/conv1.weight", filled(8 * 3 * 3, [&](std::size_t i) { return 0.01F * noise(3, i, s); }),
       {8, 1, 3, 3});
  save(hook, "conv1.output", filled(2 * 8 * 12 * 12, [&](std::size_t i) { return std::max(0.0F, noise(4, i, s)); }),
       {2, 8, 12, 12});
  save(hook, "encoder.layer.0.fc.weight",
       filled(16 * 8, [&](std::size_t i) { return noise(5, i, 0) * std::exp(-age); }), {16, 8});
  save(hook, "encoder.layer.10.fc.weight", filled(16 * 8, [&](std::size_t i) { return 1e-6F * noise(6, i, s); }),
       {16, 8});
  save(hook, "encoder.layer.2.fc.bias",
       filled(16,
              [&](std::size_t i) {
                return i == 3 && step == kNanStep ? std::numeric_limits<float>::quiet_NaN() : noise(7, i, s);
              }),
       {16});
}

// Of class (i + step) % 4; three in four are predicted rightly, the rest as the class after it.
void save_predictions(Hook& hook, std::int64_t step) {
  std::vector<std::int64_t> labels(kBatch);
  std::vector<float> logits(kBatch * kClasses, 0.0F);
  for (std::size_t i = 0; i < kBatch; ++i) {
    const std::size_t label = (i + static_cast<std::size_t>(step)) % kClasses;
    labels[i] = static_cast<std::int64_t>(label);
    logits[i * kClasses + (i % 4 == 3 ? (label + 1) % kClasses : label)] = 2.0F;
  }
  hook.save_tensor("labels", TensorView::of(labels.data(), DType::kInt64, {static_cast<std::int64_t>(kBatch)}));
  save(hook, "logits", logits, {static_cast<std::int64_t>(kBatch), static_cast<std::int64_t>(kClasses)});
}

void save_sentences(Hook& hook, std::int64_t step) {
  const std::string first = fmt::format("sentence of step {}", step);
  const std::vector<std::string_view> sentences = {first, "the second one", ""};
  hook.save_strings("sentences", sentences);
}

// The window that is recorded has the global steps 4 to 7; step 5 is an evaluation.
void run_operators(Hook& hook) {
  if (!hook.wants_operators()) return;
  OperatorRecorder& recorder = hook.operators();
  const auto call = [&](const char* name, OperatorKind kind, const auto& inner) {
    int token = 0;
    recorder.begin(&token, name, kind);
    inner();
    recorder.end(&token);
  };
  const auto nothing = [] {};
  call("forward", OperatorKind::kUser, [&] {
    call("aten::conv2d", OperatorKind::kOperator,
         [&] { call("aten::mkldnn_convolution", OperatorKind::kOperator, nothing); });
    call("aten::linear", OperatorKind::kOperator, [&] { call("aten::addmm", OperatorKind::kOperator, nothing); });
  });
  call("aten::nll_loss", OperatorKind::kOperator, nothing);
}

void train_step(Hook& hook, std::int64_t step, bool apart) {
  hook.set_mode(Mode::kTrain);
  run_operators(hook);
  const float loss = step == kNanStep ? std::numeric_limits<float>::quiet_NaN() : 2.0F / static_cast<float>(step + 1);
  save(hook, "train_loss", {loss}, {});
  save_layers(hook, step, apart);
  hook.save_scalar("learning_rate", 0.1 / static_cast<double>(1 + step / 20));
  hook.save_scalar("accuracy", 1.0 - 1.0 / static_cast<double>(step + 2));
  hook.end_step();
  if (step % kEvalEvery != kEvalEvery - 1) return;
  hook.set_mode(Mode::kEval);
  save(hook, "eval_loss", {2.2F / static_cast<float>(step + 1)}, {});
  save_predictions(hook, step);
  save_sentences(hook, step);
  hook.end_step();
}

HookOptions training_options(const fs::path& folder, bool apart) {
  HookOptions options = everything(folder);
  Collection gradients{.name = "gradients", .include = {"^gradient/"}};
  gradients.keep = KeepForm{.values = false, .statistics = true, .histogram = true};
  options.collections.push_back(gradients);
  options.operators = {.first_step = 4, .steps = 4};
  options.labels = {{"learning_rate", apart ? "0.2" : "0.1"}, {"data", "made up"}, {"classes", "ant,bee,cat,dog"}};
  return options;
}

void write_training(const fs::path& folder, std::int64_t steps, bool apart) {
  const auto hook = open(training_options(folder, apart));
  for (std::int64_t step = 0; step < steps; ++step) train_step(*hook, step, apart);
  close(*hook);
}

// Writes on standard output which step is in the run's files, and when that was.
void say_flushed(Hook& hook, std::int64_t step) {
  const auto flushed = hook.flush();
  if (!flushed.ok()) fail(flushed.to_string());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  fmt::print("{} {}\n", step, std::chrono::nanoseconds(now).count());
  std::fflush(stdout);
}

void write_live(const fs::path& folder, std::int64_t steps) {
  const auto hook = open(training_options(folder, false));
  std::string line;
  for (std::int64_t step = 0; step < steps && std::getline(std::cin, line); ++step) {
    train_step(*hook, step, false);
    say_flushed(*hook, step);
  }
  close(*hook);
}

// --- attention ------------------------------------------------------------------------------------------------------

struct AttentionShape {
  std::size_t items = 2;
  std::size_t heads = 4;
  std::size_t key_value_heads = 4;
  std::size_t tokens = 24;
  std::size_t head_size = 8;
};

std::vector<float> vectors(const AttentionShape& shape, std::size_t heads, std::uint64_t seed, std::int64_t step) {
  const float growth = 1.0F + static_cast<float>(step) / 4.0F;
  return filled(shape.items * heads * shape.tokens * shape.head_size, [&](std::size_t i) {
    return growth * noise(seed, i, 0) + 0.2F * noise(seed, i, static_cast<std::uint64_t>(step));
  });
}

// softmax(q k^T / sqrt(d)) of each item and head; head h looks through key h / (heads / key_value_heads).
std::vector<float> probabilities(const AttentionShape& shape, const std::vector<float>& q,
                                 const std::vector<float>& k) {
  const std::size_t t = shape.tokens;
  const std::size_t d = shape.head_size;
  std::vector<float> result(shape.items * shape.heads * t * t);
  std::vector<double> row(t);
  for (std::size_t head = 0; head < shape.items * shape.heads; ++head) {
    const std::size_t item = head / shape.heads;
    const std::size_t key_head =
        item * shape.key_value_heads + (head % shape.heads) / (shape.heads / shape.key_value_heads);
    for (std::size_t i = 0; i < t; ++i) {
      double largest = -1e300;
      for (std::size_t j = 0; j < t; ++j) {
        double dot = 0;
        for (std::size_t c = 0; c < d; ++c) {
          dot += static_cast<double>(q[(head * t + i) * d + c]) * static_cast<double>(k[(key_head * t + j) * d + c]);
        }
        row[j] = dot / std::sqrt(static_cast<double>(d));
        largest = std::max(largest, row[j]);
      }
      double sum = 0;
      for (double& x : row) sum += x = std::exp(x - largest);
      for (std::size_t j = 0; j < t; ++j) result[(head * t + i) * t + j] = static_cast<float>(row[j] / sum);
    }
  }
  return result;
}

Shape dimensions(const AttentionShape& shape, std::size_t heads, std::size_t last) {
  const auto n = [](std::size_t x) { return static_cast<std::int64_t>(x); };
  return {n(shape.items), n(heads), n(shape.tokens), n(last)};
}

void save_attention(Hook& hook, const AttentionShape& shape, int layer, std::int64_t step, bool with_vectors,
                    bool with_probabilities) {
  const auto seed = static_cast<std::uint64_t>(100 + 10 * layer);
  const auto q = vectors(shape, shape.heads, seed, step);
  const auto k = vectors(shape, shape.key_value_heads, seed + 1, step);
  const std::string place = fmt::format("encoder.layer.{}.attention.self.", layer);
  if (with_vectors) {
    save(hook, place + "query", q, dimensions(shape, shape.heads, shape.head_size));
    save(hook, place + "key", k, dimensions(shape, shape.key_value_heads, shape.head_size));
  }
  if (with_probabilities)
    save(hook, place + "probs", probabilities(shape, q, k), dimensions(shape, shape.heads, shape.tokens));
}

// "[CLS]", "s<step>i<item>t2", ..., "[SEP]": a label that belongs to another step or item is seen at once.
void save_tokens(Hook& hook, const AttentionShape& shape, std::int64_t step) {
  std::vector<std::string> words;
  for (std::size_t item = 0; item < shape.items; ++item) {
    for (std::size_t t = 0; t < shape.tokens; ++t) {
      words.push_back(t == 0 ? "[CLS]" : t + 1 == shape.tokens ? "[SEP]" : fmt::format("s{}i{}t{}", step, item, t));
    }
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  auto tokens = TensorView::of(views.data(), DType::kString,
                               {static_cast<std::int64_t>(shape.items), static_cast<std::int64_t>(shape.tokens)});
  hook.save_tensor("tokens", tokens);
}

// One step of training, and one of evaluation, which has the attention.
void attention_step(Hook& hook, std::int64_t step) {
  hook.set_mode(Mode::kTrain);
  save(hook, "loss", {3.0F / static_cast<float>(step + 1)}, {});
  hook.end_step();
  hook.set_mode(Mode::kEval);
  AttentionShape shape;
  for (int layer = 0; layer < 3; ++layer) {
    shape.key_value_heads = layer == 1 ? 2 : 4;
    save_attention(hook, shape, layer, step, true, layer != 2);  // the last from queries and keys alone
  }
  save_tokens(hook, shape, step);
  hook.end_step();
}

void write_attention(const fs::path& folder, std::int64_t steps) {
  const auto hook = open(everything(folder));
  for (std::int64_t step = 0; step < steps; ++step) attention_step(*hook, step);
  close(*hook);
}

void write_live_attention(const fs::path& folder, std::int64_t steps) {
  const auto hook = open(everything(folder));
  std::string line;
  for (std::int64_t step = 0; step < steps && std::getline(std::cin, line); ++step) {
    attention_step(*hook, step);
    say_flushed(*hook, step);
  }
  close(*hook);
}

void write_one_evaluation(const fs::path& folder, const AttentionShape& shape, int layers, bool vectors_only) {
  const auto hook = open(everything(folder));
  hook->set_mode(Mode::kEval);
  for (std::int64_t step = 0; step < 2; ++step) {
    for (int layer = 0; layer < layers; ++layer) save_attention(*hook, shape, layer, step, vectors_only, !vectors_only);
    save_tokens(*hook, shape, step);
    hook->end_step();
  }
  close(*hook);
}

// --- many of something ----------------------------------------------------------------------------------------------

void write_series(const fs::path& folder, std::int64_t points) {
  HookOptions options;
  options.run_dir = folder;
  options.when_full = trainwarden::WhenFull::kBlock;
  options.collections = {{.name = "losses", .include = {"loss$"}}};
  const auto hook = open(std::move(options));
  hook->set_mode(Mode::kTrain);
  for (std::int64_t step = 0; step < points; ++step) {
    hook->save_scalar("loss", std::exp(-3.0 * static_cast<double>(step) / static_cast<double>(points)) +
                                  0.1 * static_cast<double>(noise(9, static_cast<std::uint64_t>(step), 0)));
    hook->end_step();
  }
  close(*hook);
}

void write_tensors(const fs::path& folder, std::int64_t count) {
  HookOptions options = everything(folder);
  options.keep = KeepForm::reduced();
  const auto hook = open(std::move(options));
  hook->set_mode(Mode::kTrain);
  for (std::int64_t step = 0; step < 2; ++step) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::vector<float> values = {noise(1, static_cast<std::uint64_t>(i), 0), 1.0F};
      save(*hook, fmt::format("decoder.layers.{}.block{}.part{}.weight", i / 100, i / 10 % 10, i % 10), values, {2});
    }
    hook->end_step();
  }
  close(*hook);
}

// The norm of layer i at step s is 2^-(i / 30) * (1 + s / steps) but at the middle step of layer 7, which is NaN.
void write_layers(const fs::path& folder, std::int64_t steps) {
  constexpr std::int64_t kLayers = 300;
  HookOptions options = everything(folder);
  options.keep = KeepForm::reduced();
  options.collections.push_back({.name = "gradients", .include = {"^gradient/"}});
  const auto hook = open(std::move(options));
  hook->set_mode(Mode::kTrain);
  std::vector<std::string> names;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    names.push_back(fmt::format("gradient/blocks.{}.weight", layer));
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    const float growth = 1.0F + static_cast<float>(step) / static_cast<float>(steps);
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      const float norm = std::exp2(-static_cast<float>(layer) / 30.0F) * growth;
      const bool is_nan = layer == 7 && step == steps / 2;
      save(*hook, names[static_cast<std::size_t>(layer)],
           {is_nan ? std::numeric_limits<float>::quiet_NaN() : norm, 0.0F}, {2});
    }
    hook->end_step();
  }
  close(*hook);
}

void write_many(const fs::path& folder, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    HookOptions options = everything(folder / fmt::format("run-{:05}", i));
    options.labels = {{"seed", std::to_string(i)}};
    const auto hook = open(std::move(options));
    hook->set_mode(Mode::kTrain);
    for (std::int64_t step = 0; step < 5; ++step) {
      save(*hook, "loss", {1.0F / static_cast<float>(step + i + 1)}, {});
      hook->end_step();
    }
    close(*hook);
  }
}

void write_hostile(const fs::path& folder) {
  HookOptions options = everything(folder);
  options.labels = {{"<img src=x onerror=\"document.title='owned'\">", "<script>document.title='owned'</script>"}};
  const auto hook = open(std::move(options));
  hook->set_mode(Mode::kTrain);
  for (std::int64_t step = 0; step < 3; ++step) {
    save(*hook, "<img src=x onerror=\"document.title='owned'\">_loss", {1.0F}, {});
    save(*hook, "\x1b]0;owned\x07\x1b[2Jweight", {1.0F, 2.0F}, {2});
    save(*hook, "\xe2\x80\xaetxt.exe", {1.0F, 2.0F}, {2});  // right-to-left override
    const std::vector<std::string_view> words = {"<script>document.title='owned'</script>", "\x1b[31mred", "=1+1"};
    hook->save_strings("words", words);
    hook->end_step();
  }
  close(*hook);
}

std::int64_t number_of(std::string_view text) {
  const std::int64_t number = std::atoll(std::string(text).c_str());
  if (number <= 0) fail(fmt::format("expected a number over 0, found \"{}\"", text));
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: sample_runs KIND FOLDER [NUMBER]; the kinds are listed at the top of its source");
  const std::string_view kind = argv[1];
  const fs::path folder = argv[2];
  const auto number = [&](std::int64_t fallback) { return argc > 3 ? number_of(argv[3]) : fallback; };
  const auto tokens = [&](std::int64_t fallback) { return static_cast<std::size_t>(number(fallback)); };
  const std::map<std::string_view, std::function<void()>> kinds = {
      {"training", [&] { write_training(folder, number(60), false); }},
      {"apart", [&] { write_training(folder, number(60), true); }},
      {"live", [&] { write_live(folder, number(1'000'000)); }},
      {"attention", [&] { write_attention(folder, number(6)); }},
      {"live-attention", [&] { write_live_attention(folder, number(1'000'000)); }},
      {"long",
       [&] {
         write_one_evaluation(folder, {1, 4, 2, tokens(4096), 64}, 2, true);
       }},
      {"head",
       [&] {
         write_one_evaluation(folder, {1, 12, 12, tokens(512), 16}, 1, false);
       }},
      {"series", [&] { write_series(folder, number(1'000'000)); }},
      {"tensors", [&] { write_tensors(folder, number(12'345)); }},
      {"layers", [&] { write_layers(folder, number(1'000)); }},
      {"many", [&] { write_many(folder, number(1'000)); }},
      {"hostile", [&] { write_hostile(folder); }},
  };
  const auto found = kinds.find(kind);
  if (found == kinds.end()) fail(fmt::format("there is no kind \"{}\"", kind));
  found->second();
}
