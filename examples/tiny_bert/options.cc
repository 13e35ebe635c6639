#include "options.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

namespace tiny_bert {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Texts: SQuAD is at https://rajpurkar.github.io/SQuAD-explorer (dev-v1.1.json); any text file will do.\n"
    "Vocabulary: BERT's is vocab.txt of https://huggingface.co/bert-base-uncased; without one, pieces are learnt from "
    "the texts.\n\n"
    "Examples:\n"
    "  tiny_bert --text dev-v1.1.json --vocab vocab.txt\n"
    "  tiny_bert --text README.md docs --steps 200 --run-dir runs/first\n"
    "  trainwarden run -- tiny_bert --layers 6 --heads 8 --hidden 256";

std::string as_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

fs::path named_by(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

template <class Number>
void add_count(CLI::App& app, const char* name, Number& number, const char* summary) {
  app.add_option(name, number, summary)->check(CLI::PositiveNumber)->capture_default_str();
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--text", o.texts, "files of SQuAD's JSON or of text, or folders of them")->check(CLI::ExistingPath);
  app.add_option("--vocab", o.vocabulary, "vocabulary of BERT's, a piece on each line")->check(CLI::ExistingFile);
  app.add_option("--vocab-size", o.vocabulary_size, "how many pieces are kept of it, the most frequent in the texts")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  app.add_option("--length", o.length, "pieces in a sequence")->check(CLI::Range(8, 512))->capture_default_str();
  add_count(app, "--layers", o.layers, "of the encoder");
  add_count(app, "--heads", o.heads, "of each layer");
  add_count(app, "--hidden", o.hidden, "numbers that stand for a piece; a multiple of --heads");
  add_count(app, "--batch-size", o.batch_size, "sequences in a step");
  add_count(app, "--steps", o.steps, "of training");
  app.add_option("--learning-rate", o.learning_rate, "of AdamW, at its peak")->capture_default_str();
  add_count(app, "--eval-interval", o.evaluation_interval, "steps between two evaluations");
  add_count(app, "--eval-items", o.evaluation_items, "sequences whose attention is captured at each");
  app.add_option("--seed", o.seed, "of weights, masks and the order of the sequences")->capture_default_str();
  add_count(app, "--threads", o.threads, "of LibTorch");
  app.add_option("--run-dir", o.run_dir, "folder of the run (default runs/tiny_bert)");
  app.add_flag("!--no-hook", o.use_hook, "train without capturing anything");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a small BERT to guess masked words, and captures its attention while it learns.");
  app.footer(kFooter);
  add_options(app, options);
  try {
    app.parse(argc, argv);
    if (options.hidden % options.heads != 0) {
      throw CLI::ValidationError("--hidden", "must be a multiple of --heads, " + std::to_string(options.heads));
    }
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

std::vector<fs::path> default_texts() {
  if (const fs::path named = named_by("TRAINWARDEN_TEXT"); !named.empty()) return {named};
  const fs::path squad = "../shared/data/squad/dev-v1.1.json";
  if (fs::exists(squad)) return {squad};
  if (fs::exists("README.md") && fs::is_directory("docs")) return {"README.md", "docs"};
  throw std::invalid_argument(
      "there is nothing to train on: name files with --text. SQuAD is at https://rajpurkar.github.io/SQuAD-explorer "
      "(dev-v1.1.json); any text file will do.");
}

fs::path default_vocabulary() {
  if (const fs::path named = named_by("TRAINWARDEN_VOCAB"); !named.empty()) return named;
  const fs::path shared = "../shared/data/vocab/bert-base-uncased-vocab.txt";
  return fs::exists(shared) ? shared : fs::path();
}

trainwarden::Result<trainwarden::HookOptions> hook_options(const Options& options) {
  using trainwarden::KeepForm;
  using trainwarden::Mode;
  using trainwarden::SavePolicy;

  SavePolicy each_evaluation;
  each_evaluation[Mode::kTrain] = {.end_step = 0};  // never
  each_evaluation[Mode::kEval] = {.save_interval = 1};
  SavePolicy some_of_training;
  some_of_training[Mode::kTrain] = {.save_interval = 10};
  some_of_training[Mode::kEval] = {.end_step = 0};

  trainwarden::HookOptions hook;
  hook.run_dir = "runs/tiny_bert";
  hook.collections = {
      {.name = "attention_of_layers",
       .include = {R"(attention\.self\.(query|key|probs)$)", "^tokens$"},
       .save = each_evaluation,
       .keep = KeepForm::whole()},
      {.name = "weights", .save = some_of_training, .keep = KeepForm::reduced()},
      {.name = "biases", .save = some_of_training, .keep = KeepForm::reduced()},
      {.name = "gradients", .save = some_of_training, .keep = KeepForm::reduced()},
      {.name = "losses", .save = SavePolicy::every(1)},
  };
  hook.labels = {{"example", "tiny_bert"},
                 {"learning_rate", as_text(options.learning_rate)},
                 {"batch_size", std::to_string(options.batch_size)},
                 {"layers", std::to_string(options.layers)},
                 {"heads", std::to_string(options.heads)},
                 {"hidden", std::to_string(options.hidden)},
                 {"seed", std::to_string(options.seed)},
                 {"total_steps", std::to_string(options.steps)}};

  auto overlaid = trainwarden::hook_options_from_environment(hook);
  if (overlaid.ok() && !options.run_dir.empty()) overlaid->run_dir = options.run_dir;
  return overlaid;
}

}  // namespace tiny_bert
