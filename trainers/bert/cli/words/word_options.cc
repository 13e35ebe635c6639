#include "cli/words/word_options.h"

#include <CLI/CLI.hpp>

namespace bert {

void add_word_training_options(CLI::App& app, TrainOptions& options, WordOptions& words) {
  add_train_options(app, options);
  app.add_option("--texts", words.texts, "file with a document on each line")->required()->check(CLI::ExistingFile);
  app.add_option("--held-out", words.held_out, "fraction of the documents that is judged by, drawn by the seed")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--max-length", words.max_length, "pieces in a window; a longer document has several")
      ->check(CLI::Range(3, 512))
      ->capture_default_str();
  app.add_option("--eval-interval", words.evaluation_interval, "steps between evaluations; 0: after each epoch")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--eval-batch-size", words.evaluation_batch_size, "windows at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace bert
