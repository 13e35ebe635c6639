// What a model that finds answers in texts is asked for on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace bert {

struct SpanOptions {
  std::vector<std::filesystem::path> train;
  std::filesystem::path dev;
  std::int64_t train_size = 0, dev_size = 0;  // questions, drawn by the seed; 0: all
  std::int64_t max_length = 384, stride = 128, max_question = 64, max_answer = 30;
  std::string stride_means = "moved";    // tokens: moved, shared
  std::int64_t evaluation_interval = 0;  // steps; 0: after each epoch, with a threshold every 50
  double f1_threshold = 0;               // of 100, at which it is good enough; 0: none
  std::int64_t sample_size = 0;          // questions evaluated before the end; 0: all, with a threshold a tenth
  std::int64_t evaluation_batch_size = 32;
  std::int64_t looked_at = 4;  // windows whose attention is captured at each evaluation
};

void add_window_options(CLI::App& app, SpanOptions& options);
void add_span_training_options(CLI::App& app, SpanOptions& options);

}  // namespace bert
