#include "cli/classes/class_options.h"

#include <stdexcept>

#include <CLI/CLI.hpp>

#include "cli/hyperparameters.h"

namespace bert {
namespace {

CLI::Option* add_count(CLI::App& app, const char* name, std::int64_t& count, const char* summary) {
  return app.add_option(name, count, summary)->capture_default_str()->group(kHyperparameters);
}

void add_data_options(CLI::App& app, ClassOptions& o) {
  app.add_option("--train", o.train, "texts to train on: a .csv, .tsv or .jsonl file, or a folder of them")
      ->required()
      ->envname("SM_CHANNEL_TRAIN")
      ->check(CLI::ExistingPath);
  app.add_option("--validation", o.validation, "texts to judge by while training")
      ->envname("SM_CHANNEL_VALIDATION")
      ->check(CLI::ExistingPath);
  app.add_option("--test", o.test, "texts to judge by at the end")
      ->envname("SM_CHANNEL_TEST")
      ->check(CLI::ExistingPath);
  app.add_option("--text-column", o.fields.text, "what the files call the text")->capture_default_str();
  app.add_option("--label-column", o.fields.label, "and its class")->capture_default_str();
  app.add_option("--max-length,--max_seq_length", o.max_length, "pieces of a text; the others are cut off")
      ->check(CLI::Range(3, 512))
      ->capture_default_str();
  app.add_option("--class-weights", o.class_weights,
                 "in the loss: none, or balanced, so that each class has the same weight in all")
      ->check(CLI::IsMember({"none", "balanced"}))
      ->capture_default_str();
  app.add_option("--model-out", o.model_out, "folder for the trained model (default: model, in the folder --out)")
      ->envname("TRAINWARDEN_MODEL_DIR");
}

// An error in place of a setting that would be ignored.
void refuse_xla(bool asked) {
  if (!asked) return;
  throw CLI::ValidationError("--use_xla",
                             "True: XLA compiles graphs of TensorFlow, and this program has none: it runs LibTorch's "
                             "operators and kernels of its own, which are fused already. Say False, or leave it out");
}

// Those that have no other name of ours.
void add_hyperparameters(CLI::App& app, TrainOptions& options, ClassOptions& o) {
  add_count(app, "--validation_batch_size", o.validation_batch_size, "texts at once")->check(CLI::PositiveNumber);
  add_count(app, "--test_batch_size", o.test_batch_size, "texts at once")->check(CLI::PositiveNumber);
  add_count(app, "--train_steps_per_epoch", o.steps_in_epoch, "0: all texts once")->check(CLI::NonNegativeNumber);
  add_count(app, "--validation_steps", o.validation_batches, "batches that are judged, the first; 0: all")
      ->check(CLI::NonNegativeNumber);
  add_count(app, "--test_steps", o.test_batches, "the same of the test")->check(CLI::NonNegativeNumber);
  add_switch(app, "--freeze_bert_layer", o.freeze_encoder, "train the head alone");
  add_switch(app, "--use_amp", o.use_amp, "mixed precision: float16 on a GPU, bfloat16 on a CPU");
  app.add_option_function<bool>("--use_xla", refuse_xla, "an error where it is True")
      ->group(kHyperparameters)
      ->type_name("BOOL");
  add_switch(app, "--enable_tensorboard", o.enable_tensorboard, "show the run to TensorBoard: tensorboard, in --out");
  add_switch(app, "--enable_sagemaker_debugger", options.use_hook, "capture the training");
  app.add_option_function<bool>(
         "--enable_checkpointing",
         [&options](bool enabled) {
           if (!enabled) options.checkpoint_interval = 0;
         },
         "False: as --checkpoint-interval 0")
      ->group(kHyperparameters)
      ->type_name("BOOL");
  add_switch(app, "--run_validation", o.run_validation, "judge after each epoch");
  app.add_option("--run_test", o.run_test, "judge at the end (default: where --test is given)")
      ->group(kHyperparameters)
      ->type_name("BOOL");
  add_switch(app, "--run_sample_predictions", o.run_sample_predictions, "print what the model says of a few texts");
}

}  // namespace

void add_class_training_options(CLI::App& app, TrainOptions& options, ClassOptions& classes) {
  add_train_options(app, options);
  app.get_option("--out")->envname("TRAINWARDEN_OUTPUT_DIR");
  add_data_options(app, classes);
  add_hyperparameters(app, options, classes);
  take_from_job(app);
}

void settle(TrainOptions& options, ClassOptions& classes, const at::Device& device) {
  if (classes.run_validation && classes.validation.empty()) {
    throw std::invalid_argument("there are no texts to judge by: give --validation, or say --run_validation False");
  }
  if (!classes.run_test) classes.run_test = !classes.test.empty();
  if (*classes.run_test && classes.test.empty()) throw std::invalid_argument("--run_test True: give --test");
  if (classes.enable_tensorboard && !options.use_hook) {
    throw std::invalid_argument("--enable_tensorboard True shows what is captured, and nothing is to be captured");
  }
  if (classes.use_amp && options.precision == "float32") options.precision = device.is_cpu() ? "bfloat16" : "float16";
  if (classes.model_out.empty()) classes.model_out = options.out / "model";
  if (classes.steps_in_epoch > 0 && options.max_steps == 0) options.max_steps = options.epochs * classes.steps_in_epoch;
}

}  // namespace bert
