// What a training on masked words is asked for on the command line.
#pragma once

#include <cstdint>
#include <filesystem>

#include <CLI/App.hpp>

#include "cli/train_options.h"

namespace bert {

struct WordOptions {
  std::filesystem::path texts;
  double held_out = 0.05;         // fraction of the documents, drawn by the seed, that is judged by and not trained on
  std::int64_t max_length = 128;  // pieces in a window
  std::int64_t evaluation_interval = 0;  // steps; 0: after each epoch
  std::int64_t evaluation_batch_size = 32;
};

void add_word_training_options(CLI::App& app, TrainOptions& options, WordOptions& words);

}  // namespace bert
