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
  add_number(app, "--warmup,--warmup-proportion,--warmup_proportion", o.warmup,
             "proportion of the steps in which the rate rises")
      ->check(CLI::Range(0.0, 1.0));
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
  app.add_option("--out", o.out, "folder for the trained model, checkpoints and result.json")
      ->required()
      ->envname("TRAINWARDEN_OUTPUT_DIR");  // of a job
  add_number(app, "--layers,--num-hidden-layers,--num_hidden_layers", o.layers,
             "train the first so many layers of the model, without the others; 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--dropout,--dropout-prob,--dropout_prob", o.dropout,
                 "of hidden states and of attention, below 1 (default: as the model's config.json has it)")
      ->check(CLI::Range(0.0, 0.999));
  app.add_flag("--new-weights", o.new_weights, "begin with random weights: the model's are not read");
  add_length_options(app, o);
  add_optimizer_options(app, o);
  add_machine_options(app, o);
  add_rank_options(app, o.ranks);
  app.add_option("--run-dir", o.run_dir, "folder of the run (default: run, in the folder --out)");
  app.add_flag("!--no-hook", o.use_hook, "train without capturing anything");
}

}  // namespace bert
