// What a training of classes is asked for on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <c10/core/Device.h>
#include <CLI/App.hpp>

#include "classes/labelled_texts.h"
#include "cli/train_options.h"

namespace bert {

struct ClassOptions {
  std::filesystem::path train, validation, test;  // files, or folders of files; test may be empty
  LabelledFields fields;
  std::int64_t max_length = 64;        // pieces of a text; the others are cut off
  std::string class_weights = "none";  // none, balanced
  std::int64_t validation_batch_size = 128, test_batch_size = 128;
  std::int64_t steps_in_epoch = 0;                        // of the optimizer; 0: all texts once
  std::int64_t validation_batches = 0, test_batches = 0;  // that are judged, the first so many; 0: all
  std::filesystem::path model_out;                        // empty: model, in --out
  bool freeze_encoder = false;
  bool use_amp = false;
  bool enable_tensorboard = false;
  bool run_validation = true;
  std::optional<bool> run_test;  // none: where there are texts for it
  bool run_sample_predictions = false;
};

// All options of `bert train-classes`, those of SageMaker's text classifier by its names too, and its channels. Both
// must live as long as the app.
void add_class_training_options(CLI::App& app, TrainOptions& options, ClassOptions& classes);

// What options say together: the precision that use_amp means on the device, the steps of all epochs. Throws
// std::invalid_argument where they contradict each other.
void settle(TrainOptions& options, ClassOptions& classes, const at::Device& device);

}  // namespace bert
