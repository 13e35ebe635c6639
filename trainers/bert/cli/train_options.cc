#include "cli/train_options.h"

#include <CLI/CLI.hpp>

namespace bert {
namespace {

template <class Number>
CLI::Option* add_number(CLI::App& app, const char* name, Number& number, const char* summary) {
  return app.add_option(name, number, summary)->capture_default_str();
}

void add_optimizer_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--optimizer", o.optimizer, "adam, adamw or lamb")
      ->check(CLI::IsMember({"adam", "adamw", "lamb"}))
      ->capture_default_str();
  add_number(app, "--learning-rate,--learning_rate", o.learning_rate, "at its peak")->check(CLI::PositiveNumber);
  add_number(app, "--warmup", o.warmup, "proportion of the steps in which the rate rises")->check(CLI::Range(0.0, 1.0));
  app.add_option("--decay", o.decay,
                 "constant, linear (from the end of the warm-up, as Hugging Face's), or linear_from_start (as BERT's)")
      ->check(CLI::IsMember({"constant", "linear", "linear_from_start"}))
      ->capture_default_str();
  add_number(app, "--epsilon", o.epsilon, "added to the root of the squared gradients; 0: 1e-8 of adam, 1e-6 of lamb")
      ->check(CLI::NonNegativeNumber);
  add_number(app, "--weight-decay", o.weight_decay, "but of biases and layer norms")->check(CLI::NonNegativeNumber);
  add_number(app, "--max-gradient-norm", o.max_gradient_norm, "of all gradients together; 0: unlimited")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("!--no-bias-correction", o.bias_correction, "as BERT's own Adam, which has none");
}

void add_length_options(CLI::App& app, TrainOptions& o) {
  add_number(app, "--epochs", o.epochs, "over all that is trained on")->check(CLI::PositiveNumber);
  add_number(app, "--max-steps", o.max_steps, "in all; 0: as the epochs say")->check(CLI::NonNegativeNumber);
  add_number(app, "--step-threshold,--step_threshold", o.step_threshold,
             "stop after so many steps, with the learning rates of a training that goes on; 0: never")
      ->check(CLI::NonNegativeNumber);
  add_number(app, "--batch-size,--batch_size,--train_batch_size", o.batch_size, "items of each rank in a backward pass")
      ->check(CLI::PositiveNumber);
  CLI::Option* const accumulate =
      add_number(app, "--accumulate", o.accumulate, "backward passes in a step")->check(CLI::PositiveNumber);
  app.add_option("--global-batch", o.global_batch,
                 "items in a step, on all ranks together: each makes as many backward passes as its part takes, so "
                 "that another number of ranks is the same training (default: batch size x accumulate x ranks)")
      ->check(CLI::PositiveNumber)
      ->excludes(accumulate);
  add_number(app, "--checkpoint-interval", o.checkpoint_interval, "steps; 0: only when somebody asks")
      ->check(CLI::NonNegativeNumber);
}

void add_machine_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--device", o.device, "auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--precision", o.precision, "of matrix products: float32, bfloat16 or float16 (with loss scaling)")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
      ->capture_default_str();
  add_number(app, "--threads", o.threads, "of LibTorch; 0: as it chooses")->check(CLI::NonNegativeNumber);
  add_number(app, "--seed", o.seed, "of new weights, dropout, the order and what is drawn");
  app.add_flag("--deterministic", o.deterministic, "only algorithms that give the same bits on each run");
  app.add_flag("!--with-padding", o.skip_padding, "compute what stands for padding, too, as BERT's own code does");
}

}  // namespace

void add_train_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--model", o.model, "folder with config.json, model.safetensors and vocab.txt, as Hugging Face's")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--out", o.out, "folder for the trained model, checkpoints and result.json")->required();
  app.add_flag("--new-weights", o.new_weights, "begin with random weights: the model's are not read");
  add_length_options(app, o);
  add_optimizer_options(app, o);
  add_machine_options(app, o);
  add_rank_options(app, o.ranks);
  app.add_option("--run-dir", o.run_dir, "folder of the run (default: run, in the folder --out)");
  app.add_flag("!--no-hook", o.use_hook, "train without capturing anything");
}

void add_window_options(CLI::App& app, SpanOptions& o) {
  add_number(app, "--max-length", o.max_length, "pieces in a window")->check(CLI::Range(16, 512));
  add_number(app, "--stride", o.stride, "from one window to the next, in pieces of the text")
      ->check(CLI::PositiveNumber);
  app.add_option("--stride-means", o.stride_means,
                 "that so many pieces are moved on, as BERT's own code has it, or shared, as Hugging Face's script")
      ->check(CLI::IsMember({"moved", "shared"}))
      ->capture_default_str();
  add_number(app, "--max-question", o.max_question, "pieces of a question; the others are cut off")
      ->check(CLI::PositiveNumber);
  add_number(app, "--max-answer", o.max_answer, "pieces in an answer")->check(CLI::PositiveNumber);
  add_number(app, "--eval-batch-size", o.evaluation_batch_size, "windows at once")->check(CLI::PositiveNumber);
}

void add_span_training_options(CLI::App& app, SpanOptions& o) {
  app.add_option("--train", o.train, "files of questions: SQuAD's v1.1 or v2.0, or flat")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--dev", o.dev, "file of questions that are evaluated")->required()->check(CLI::ExistingFile);
  add_number(app, "--train-size,--train_dataset_size", o.train_size,
             "questions that are trained on, drawn by the seed; 0: all")
      ->check(CLI::NonNegativeNumber);
  add_number(app, "--dev-size,--val_dataset_size", o.dev_size,
             "questions that are evaluated, drawn by the seed from all articles; 0: all")
      ->check(CLI::NonNegativeNumber);
  add_number(app, "--eval-interval,--num-to-evaluate,--num_to_evaluate", o.evaluation_interval,
             "steps between evaluations; 0: after each epoch, with --f1-threshold every 50")
      ->check(CLI::NonNegativeNumber);
  add_number(app, "--f1-threshold,--f1_threshold", o.f1_threshold,
             "stop when the F1 of all that is evaluated is not below it, by a 95 % bound from a sample; 0: never")
      ->check(CLI::Range(0.0, 100.0));
  add_number(app, "--sample-size", o.sample_size,
             "questions that are evaluated before the end, drawn by the seed; 0: all, with --f1-threshold a tenth")
      ->check(CLI::NonNegativeNumber);
  add_number(app, "--look-at", o.looked_at, "windows whose attention is captured at each evaluation")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace bert
