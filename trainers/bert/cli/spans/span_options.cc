#include "cli/spans/span_options.h"

#include <CLI/CLI.hpp>

namespace bert {
namespace {

template <class Number>
CLI::Option* add_figure(CLI::App& app, const char* name, Number& figure, const char* summary) {
  return app.add_option(name, figure, summary)->capture_default_str();
}

}  // namespace

void add_window_options(CLI::App& app, SpanOptions& o) {
  add_figure(app, "--max-length", o.max_length, "pieces in a window")->check(CLI::Range(16, 512));
  add_figure(app, "--stride", o.stride, "from one window to the next, in pieces of the text")
      ->check(CLI::PositiveNumber);
  app.add_option("--stride-means", o.stride_means,
                 "that so many pieces are moved on, as BERT's own code has it, or shared, as Hugging Face's script")
      ->check(CLI::IsMember({"moved", "shared"}))
      ->capture_default_str();
  add_figure(app, "--max-question", o.max_question, "pieces of a question; the others are cut off")
      ->check(CLI::PositiveNumber);
  add_figure(app, "--max-answer", o.max_answer, "pieces in an answer")->check(CLI::PositiveNumber);
  add_figure(app, "--eval-batch-size", o.evaluation_batch_size, "windows at once")->check(CLI::PositiveNumber);
}

void add_span_training_options(CLI::App& app, SpanOptions& o) {
  app.add_option("--train", o.train, "files of questions: SQuAD's v1.1 or v2.0, or flat")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--dev", o.dev, "file of questions that are evaluated")->required()->check(CLI::ExistingFile);
  add_figure(app, "--train-size,--train_dataset_size", o.train_size,
             "questions that are trained on, drawn by the seed; 0: all")
      ->check(CLI::NonNegativeNumber);
  add_figure(app, "--dev-size,--val_dataset_size", o.dev_size,
             "questions that are evaluated, drawn by the seed from all articles; 0: all")
      ->check(CLI::NonNegativeNumber);
  add_figure(app, "--eval-interval,--num-to-evaluate,--num_to_evaluate", o.evaluation_interval,
             "steps between evaluations; 0: after each epoch, with --f1-threshold every 50")
      ->check(CLI::NonNegativeNumber);
  add_figure(app, "--f1-threshold,--f1_threshold", o.f1_threshold,
             "stop when the F1 of all that is evaluated is not below it, by a 95 % bound from a sample; 0: never")
      ->check(CLI::Range(0.0, 100.0));
  add_figure(app, "--sample-size", o.sample_size,
             "questions that are evaluated before the end, drawn by the seed; 0: all, with --f1-threshold a tenth")
      ->check(CLI::NonNegativeNumber);
  add_figure(app, "--look-at", o.looked_at, "windows whose attention is captured at each evaluation")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace bert
