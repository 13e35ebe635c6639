// The command line of the example, and what it captures.
#pragma once

#include <cstdint>
#include <filesystem>

#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace fashion_mnist {

struct Options {
  double learning_rate = 0.1;
  int epochs = 2;
  std::int64_t batch_size = 256;
  std::int64_t max_steps = 0;  // 0: all of the epochs
  std::uint64_t seed = 1;
  int threads = 1;
  bool use_hook = true;
  std::filesystem::path data_dir = "/usr/share/datasets/fashion-mnist";
  std::filesystem::path checkpoint_dir;   // where checkpoints are written and found again; empty: nowhere
  std::int64_t checkpoint_interval = 50;  // steps between two
  std::filesystem::path model_dir;        // where the trained network goes; empty: nowhere
  std::filesystem::path run_dir;          // empty: the environment's, else runs/fashion_mnist
};

// Exits after --help (0) and on wrong usage (2).
Options parse_options(int argc, char** argv);

// The first layer whole at every 100th step, statistics of all weights, biases and gradients at every step, all losses.
// The environment (TRAINWARDEN_CONFIG, TRAINWARDEN_RUN_DIR, ...) has its say, then the command line.
trainwarden::Result<trainwarden::HookOptions> hook_options(const Options& options);

}  // namespace fashion_mnist
