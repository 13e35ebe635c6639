// Trains a small BERT to guess masked words and lets Trainwarden look at its attention.
//
// What Trainwarden needs is `hook`, `watcher` and capture_attention(); the rest is an ordinary LibTorch program.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include <torch/nn/functional/loss.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>
#include <torch/serialize/archive.h>
#include <torch/utils.h>

#include "batch.h"
#include "corpus.h"
#include "masking.h"
#include "model.h"
#include "options.h"
#include "text/vocabulary.h"
#include "trainwarden/hook.h"
#include "trainwarden/torch.h"
#include "vocabulary_learning.h"

namespace tiny_bert {
namespace {

using torch::Tensor;
using trainwarden::Hook;
using trainwarden::Mode;
using trainwarden::torch::Watcher;

constexpr std::int64_t kStepsBetweenLines = 50;
constexpr const char* kLoss = "MaskedLanguageLoss";

// What is trained on and what is only looked at.
struct Data {
  std::vector<Sequence> train;
  std::vector<Sequence> evaluate;
};

Vocabulary choose_vocabulary(const Options& options, const std::vector<std::string>& texts) {
  const std::filesystem::path file = options.vocabulary.empty() ? default_vocabulary() : options.vocabulary;
  if (file.empty()) {
    std::printf("no vocabulary of BERT's here (--vocab); pieces are learnt from the texts\n");
    return learn_vocabulary(texts, options.vocabulary_size);
  }
  return most_frequent(Vocabulary::load(file), texts, options.vocabulary_size);
}

// The last twentieth is held out: neighbours are alike, so that they are not drawn at random.
Data split(std::vector<Sequence> sequences, std::int64_t least) {
  const std::size_t held_out = std::max(static_cast<std::size_t>(least), sequences.size() / 20);
  if (sequences.size() < 2 * held_out) {
    throw std::runtime_error("the texts give " + std::to_string(sequences.size()) + " sequences; at least " +
                             std::to_string(2 * held_out) + " are needed: name more with --text");
  }
  const auto border = sequences.end() - static_cast<std::ptrdiff_t>(held_out);
  Data data;
  data.evaluate.assign(border, sequences.end());
  sequences.erase(border, sequences.end());
  data.train = std::move(sequences);
  return data;
}

// People look at the first ones: whole sentences read better than what the texts are cut into.
void put_sentences_first(Data& data, std::vector<Sequence> sentences, std::int64_t count) {
  sentences.resize(std::min(sentences.size(), static_cast<std::size_t>(count)));
  data.evaluate.insert(data.evaluate.begin(), sentences.begin(), sentences.end());
}

Tensor loss_of(TinyBert& model, const Batch& batch, std::vector<Attention>* seen = nullptr) {
  const Tensor scores = model->forward(batch.pieces, batch.segments, batch.asked, seen);
  return torch::nn::functional::cross_entropy(scores, batch.answers);
}

void capture_tokens(Hook& hook, const Vocabulary& vocabulary, const Tensor& pieces) {
  if (!hook.wants("tokens")) return;
  std::vector<std::string_view> tokens;
  const Tensor flat = pieces.flatten();
  for (std::int64_t i = 0; i < flat.numel(); ++i) tokens.push_back(vocabulary.piece(flat[i].item<std::int64_t>()));
  hook.save_tensor("tokens", trainwarden::TensorView::of(tokens.data(), trainwarden::DType::kString,
                                                         trainwarden::Shape({pieces.size(0), pieces.size(1)})));
}

// What each layer's heads did with which tokens. Names are those of the modules.
void capture_attention(Hook& hook, const std::vector<Attention>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".attention.self.";
    hook.save_tensor(name + "query", trainwarden::torch::view_of(layers[i].query));
    hook.save_tensor(name + "key", trainwarden::torch::view_of(layers[i].key));
    hook.save_tensor(name + "probs", trainwarden::torch::view_of(layers[i].probabilities));
  }
}

// The same sequences with the same masks each time, so that what changes is the model.
class Evaluation {
 public:
  Evaluation(const Options& options, const Vocabulary& vocabulary, const std::vector<Sequence>& sequences)
      : vocabulary_(vocabulary) {
    Masker masker(vocabulary, options.seed + 1);
    std::vector<const Sequence*> chosen;
    for (const Sequence& sequence : sequences) chosen.push_back(&sequence);
    const std::vector<const Sequence*> looked_at(chosen.begin(), chosen.begin() + options.evaluation_items);
    looked_at_ = make_batch(looked_at, masker);
    constexpr std::size_t kMostForTheLoss = 128;
    if (chosen.size() > kMostForTheLoss) chosen.resize(kMostForTheLoss);
    held_out_ = make_batch(chosen, masker);
  }

  // The loss on what is held out. A step of mode eval.
  double run(TinyBert& model, Hook& hook, Watcher& watcher) {
    const torch::NoGradGuard no_grad;
    watcher.set_mode(Mode::kEval);
    model->eval();
    std::vector<Attention> layers;
    loss_of(model, looked_at_, &layers);
    capture_tokens(hook, vocabulary_, looked_at_.pieces);
    capture_attention(hook, layers);
    const Tensor loss = watcher.loss(kLoss, loss_of(model, held_out_));
    watcher.end_step();
    model->train();
    watcher.set_mode(Mode::kTrain);
    return loss.item<double>();
  }

 private:
  const Vocabulary& vocabulary_;
  Batch looked_at_;  // a few, whose attention is captured
  Batch held_out_;   // more, whose loss is printed
};

// Hands out the sequences in random order, again and again.
class Shuffle {
 public:
  Shuffle(const std::vector<Sequence>& sequences, std::uint64_t seed) : sequences_(sequences), random_(seed) {}

  std::vector<const Sequence*> next(std::int64_t count) {
    std::vector<const Sequence*> drawn;
    for (std::int64_t i = 0; i < count; ++i) {
      if (left_.empty()) refill();
      drawn.push_back(left_.back());
      left_.pop_back();
    }
    return drawn;
  }

 private:
  void refill() {
    for (const Sequence& sequence : sequences_) left_.push_back(&sequence);
    std::shuffle(left_.begin(), left_.end(), random_);
  }

  const std::vector<Sequence>& sequences_;
  std::vector<const Sequence*> left_;
  std::mt19937_64 random_;
};

// Up in the first tenth, then down to nothing: without it a BERT of this kind hardly learns.
double learning_rate_at(const Options& options, std::int64_t step) {
  const double progress = static_cast<double>(step + 1) / static_cast<double>(options.steps + 1);
  constexpr double kWarmUp = 0.1;
  return options.learning_rate * std::min(progress / kWarmUp, (1 - progress) / (1 - kWarmUp));
}

void set_learning_rate(torch::optim::AdamW& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) static_cast<torch::optim::AdamWOptions&>(group.options()).lr(rate);
}

// All that is needed to go on from here.
void save_state(const TinyBert& model, const torch::optim::Optimizer& optimizer, std::int64_t steps,
                const std::filesystem::path& file) {
  torch::serialize::OutputArchive archive, weights, optimizer_state;
  model->save(weights);
  optimizer.save(optimizer_state);
  archive.write("model", weights);
  archive.write("optimizer", optimizer_state);
  archive.write("steps", torch::tensor(steps), /*is_buffer=*/true);
  archive.save_to(file.string());
}

// Without a folder to write to the training goes on unseen.
std::unique_ptr<Hook> open_hook(const Options& options) {
  if (!options.use_hook) return Hook::disabled();
  const auto configured = hook_options(options);
  if (!configured.ok()) throw std::invalid_argument(configured.status().to_string());
  auto hook = Hook::open(*configured);
  if (!hook.ok()) {
    std::fprintf(stderr, "nothing is captured: %s\n", hook.status().to_string().c_str());
    return Hook::disabled();
  }
  std::printf("capturing into %s\n", configured->run_dir.c_str());
  return std::move(hook).value();
}

// One step; its loss.
double train_on(const Batch& batch, TinyBert& model, torch::optim::AdamW& optimizer, Watcher& watcher) {
  optimizer.zero_grad();
  const Tensor loss = watcher.loss(kLoss, loss_of(model, batch));
  loss.backward();
  torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
  optimizer.step();
  return loss.item<double>();
}

void train(const Options& options) {
  torch::manual_seed(options.seed);
  torch::set_num_threads(options.threads);
  const std::vector<std::string> texts = read_texts(options.texts.empty() ? default_texts() : options.texts);
  const Vocabulary vocabulary = choose_vocabulary(options, texts);
  const auto length = static_cast<std::size_t>(options.length);
  Data data = split(cut_into_sequences(vocabulary, texts, length), options.evaluation_items);
  const std::size_t held_out_pieces = data.evaluate.size() * (length - kSpecialsOfSequence);
  put_sentences_first(data, sequences_of_sentences(vocabulary, texts, length, held_out_pieces),
                      options.evaluation_items);
  std::printf("%zu pieces in the vocabulary, %zu sequences of %zu to train on, %zu held out\n", vocabulary.size(),
              data.train.size(), length, data.evaluate.size());

  TinyBert model(ModelSize{.vocabulary = static_cast<std::int64_t>(vocabulary.size()),
                           .length = options.length,
                           .layers = options.layers,
                           .heads = options.heads,
                           .hidden = options.hidden});
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(options.learning_rate));
  Masker masker(vocabulary, options.seed);
  Shuffle shuffle(data.train, options.seed);
  Evaluation evaluation(options, vocabulary, data.evaluate);

  const std::unique_ptr<Hook> hook = open_hook(options);
  Watcher watcher = trainwarden::torch::watch(*hook, *model, {.prefix = {}, .activations = false});
  std::int64_t step = 0;
  watcher.on_checkpoint([&](const std::filesystem::path& file) { save_state(model, optimizer, step + 1, file); });
  const auto evaluate = [&] {
    std::printf("step %5ld  loss on what is held out %.3f\n", step, evaluation.run(model, *hook, watcher));
  };
  for (evaluate(); step < options.steps;) {
    set_learning_rate(optimizer, learning_rate_at(options, step));
    const double loss = train_on(make_batch(shuffle.next(options.batch_size), masker), model, optimizer, watcher);
    const trainwarden::StepEnd end = watcher.end_step();
    if (step % kStepsBetweenLines == 0) std::printf("step %5ld  loss %.3f\n", step, loss);
    if (end.stop_requested) {
      std::printf("stopped after step %ld: %s\n", step, std::string(end.stop_reason).c_str());
      return;
    }
    ++step;
    if (step % options.evaluation_interval == 0 || step == options.steps) evaluate();
  }
}

}  // namespace
}  // namespace tiny_bert

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // each line is seen at once, by a pipe too
  try {
    tiny_bert::train(tiny_bert::parse_options(argc, argv));
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
