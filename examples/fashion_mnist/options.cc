// Command line and hook options.
#include "options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace fashion_mnist {
namespace {

std::string as_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a small convolutional network on FashionMNIST and captures what happens inside.");
  app.add_option("--learning-rate", options.learning_rate, "of stochastic gradient descent")->capture_default_str();
  app.add_option("--epochs", options.epochs, "passes over the training images")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "images in a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--steps", options.max_steps, "stop after so many steps")->check(CLI::PositiveNumber);
  app.add_option("--data", options.data_dir, "folder of the IDX files")->capture_default_str();
  app.add_option("--run-dir", options.run_dir, "folder of the run (default runs/fashion_mnist)");
  app.add_option("--checkpoints", options.checkpoint_dir, "folder of the checkpoint: go on from it, and write it")
      ->envname("TRAINWARDEN_CHECKPOINT_DIR");
  app.add_option("--checkpoint-interval", options.checkpoint_interval, "steps between two checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--model", options.model_dir, "folder that the trained network is written to")
      ->envname("TRAINWARDEN_MODEL_DIR");
  app.add_option("--seed", options.seed, "of weights and of the order of the images")->capture_default_str();
  app.add_option("--threads", options.threads, "of LibTorch")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("!--no-hook", options.use_hook, "train without capturing anything");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

trainwarden::Result<trainwarden::HookOptions> hook_options(const Options& options) {
  using trainwarden::KeepForm;
  using trainwarden::Mode;
  using trainwarden::SavePolicy;

  SavePolicy first_layer;
  first_layer[Mode::kTrain] = {.save_interval = 100};
  first_layer[Mode::kEval] = {.end_step = 0};  // never

  trainwarden::HookOptions hook;
  hook.run_dir = "runs/fashion_mnist";
  hook.collections = {
      {.name = "conv0_tensors", .include = {"conv0.*"}, .save = first_layer, .keep = KeepForm::whole()},
      {.name = "weights", .save = SavePolicy::every(1), .keep = KeepForm::reduced()},
      {.name = "biases", .save = SavePolicy::every(1), .keep = KeepForm::reduced()},
      {.name = "gradients", .save = SavePolicy::every(1), .keep = KeepForm::reduced()},
      {.name = "losses", .save = SavePolicy::every(1)},
  };
  hook.labels = {{"example", "fashion_mnist"},
                 {"learning_rate", as_text(options.learning_rate)},
                 {"batch_size", std::to_string(options.batch_size)},
                 {"seed", std::to_string(options.seed)}};

  auto overlaid = trainwarden::hook_options_from_environment(hook);
  if (overlaid.ok() && !options.run_dir.empty()) overlaid->run_dir = options.run_dir;
  return overlaid;
}

}  // namespace fashion_mnist
