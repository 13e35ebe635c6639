// What a training leaves behind besides its model: figures, and what makes it the same training.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/span_evaluation.h"
#include "training/checkpoint.h"

namespace bert {

struct SpanTrainingResult {
  std::optional<SpanResult> before;  // not of a training that goes on
  std::optional<SpanResult> after;
  std::int64_t steps = 0;
  std::int64_t windows = 0;  // trained on by this process
  double train_seconds = 0;  // with evaluations in between
  std::string stop_reason;   // empty: it ran to its end
  std::vector<std::string> train_files;
  std::string dev_file;
  std::size_t train_questions = 0, dev_questions = 0;
};

// Whole or not at all. Throws std::runtime_error.
void write_result(const std::filesystem::path& file, const SpanTrainingResult& result);

// The options that decide what a training computes, as text. Throws std::runtime_error where a checkpoint has others.
std::string describe(const TrainOptions& options, const SpanOptions& spans);
void check_same_training(const Checkpoint& checkpoint, const std::string& described, const std::filesystem::path& path);

}  // namespace bert
