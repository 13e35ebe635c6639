// What a training is asked for on the command line, and how it is checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <CLI/App.hpp>

#include "cli/rank_options.h"

namespace bert {

// Of how a model is trained, whatever it is trained for.
struct TrainOptions {
  std::filesystem::path model;  // folder with config.json, weights and vocabulary
  std::filesystem::path out;    // gets model/, result.json and, without a job's folder, checkpoints/
  std::string device = "auto";  // auto, cpu, cuda
  std::string precision = "float32";
  std::string optimizer = "adamw";
  std::string decay = "linear";
  double learning_rate = 5e-5;
  double warmup = 0.1;  // proportion of all steps
  double epsilon = 0;   // 0: 1e-8 of Adam, 1e-6 of LAMB
  double weight_decay = 0.01;
  double max_gradient_norm = 1.0;
  bool bias_correction = true;
  std::int64_t epochs = 2;
  std::int64_t max_steps = 0;              // 0: as the epochs say
  std::int64_t step_threshold = 0;         // stops after so many, whatever the learning rate was planned for; 0: none
  std::int64_t batch_size = 16;            // items of a rank in a backward pass
  std::int64_t accumulate = 1;             // backward passes in a step
  std::int64_t global_batch = 0;           // items in a step, on all ranks; 0: as the two above make it
  std::int64_t checkpoint_interval = 500;  // steps; 0: only when somebody asks
  std::uint64_t seed = 42;
  int threads = 0;  // 0: as LibTorch chooses
  bool deterministic = false;
  bool skip_padding = true;
  std::int64_t layers = 0;        // the first so many of the model; 0: all
  std::optional<double> dropout;  // of hidden states and attention; none: as the model has it
  bool new_weights = false;       // nothing of the model is read but its shape and vocabulary
  bool use_hook = true;
  std::filesystem::path run_dir;  // empty: the environment's, else out/run
  RankOptions ranks;
};

void add_train_options(CLI::App& app, TrainOptions& options);

}  // namespace bert
