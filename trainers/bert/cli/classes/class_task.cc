#include "cli/classes/class_task.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/classes/class_report.h"
#include "cli/model_folder.h"
#include "cli/text.h"
#include "trainwarden/torch.h"
#include "weights/names.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSamples = 5;

at::Tensor weights_of(const ClassOptions& classes, const ClassData& data, at::Device device) {
  if (classes.class_weights == "none") return {};
  return balanced_weights(data.train, data.names.size()).to(device);
}

trainwarden::TensorView view_of_numbers(const std::vector<std::int64_t>& numbers) {
  return trainwarden::TensorView::of(numbers.data(), trainwarden::DType::kInt64,
                                     trainwarden::Shape({static_cast<std::int64_t>(numbers.size())}));
}

}  // namespace

ClassTask::ClassTask(const TrainOptions& options, const ClassOptions& classes, ThisRank& rank)
    : options_(options),
      classes_(classes),
      device_(rank.device()),
      group_(rank.group()),
      shape_(trained_config(options)),
      tokenizer_(load_tokenizer(options.model, shape_, classes.max_length)),
      data_(read_class_data(classes, tokenizer_)),
      config_(config_for_classes()),
      weights_(weights_of(classes, data_, device_)),
      model_(load_classifier()) {
  if (classes.enable_tensorboard && rank.is_first()) board_.emplace(options.out / "tensorboard");
}

ModelConfig ClassTask::config_for_classes() const {
  ModelConfig config = shape_;
  config.labels = data_.names;
  return config;
}

// A head for other classes says nothing of these.
BertForClassification ClassTask::load_classifier() const {
  const OldHead old_head = shape_.labels == data_.names ? OldHead::kKept : OldHead::kReplaced;
  auto model = load_model<BertForClassification>(config_, options_, device_, old_head);
  if (!classes_.freeze_encoder) return model;
  for (auto& parameter : model->named_parameters()) {
    if (!is_of_head(parameter.key())) parameter.value().set_requires_grad(false);
  }
  return model;
}

at::Tensor ClassTask::loss(const Batch& batch, double divisor) {
  std::vector<const ClassText*> texts;
  for (std::int64_t i = 0; i < batch.real; ++i)
    texts.push_back(&data_.train[static_cast<std::size_t>(batch.examples[static_cast<std::size_t>(i)])]);
  const ClassBatch made = make_class_batch(texts, padding(), device_);
  const at::Tensor logits = model_->forward(made.inputs, {.skip_padding = options_.skip_padding});
  const at::Tensor sum = class_loss(logits, made.labels, weights_);
  means_.add(sum, batch.real, logits.detach().argmax(1).eq(made.labels).sum(), batch.real);
  return sum / divisor;
}

std::string ClassTask::evaluate(trainwarden::Hook& hook) {
  if (classes_.run_validation) validate(hook);
  if (board_) board_->update(hook);
  const std::optional<Means> training = means_.take(group_);
  if (!training) return last_ ? scores_text(*last_) : "not judged";
  if (!last_) return metrics_text(*training, nullptr);
  const Means validation = {.loss = last_->loss, .accuracy = last_->scores.accuracy()};
  return metrics_text(*training, &validation) + "  " + agreement_text(*last_);
}

void ClassTask::validate(trainwarden::Hook& hook) {
  last_ = judge_first(data_.validation, classes_.validation_batches, classes_.validation_batch_size);
  if (!first_) first_ = last_;
  capture(hook, *last_);
}

ClassResult ClassTask::judge_first(const std::vector<ClassText>& texts, std::int64_t batches, std::int64_t batch_size) {
  const auto wanted =
      batches == 0 ? texts.size() : std::min(texts.size(), static_cast<std::size_t>(batches * batch_size));
  return judge(model_, {.texts = std::span(texts).first(wanted), .batch_size = batch_size, .padding = padding()},
               &group_);
}

// The page counts the confusion matrix from labels and predictions.
void ClassTask::capture(trainwarden::Hook& hook, const ClassResult& result) const {
  hook.save_tensor("labels", view_of_numbers(result.labels));
  hook.save_tensor("predictions", trainwarden::torch::view_of(result.probabilities));
  const std::vector<std::string_view> names(data_.names.begin(), data_.names.end());
  hook.save_strings("class_names", names);
  const std::array<std::string_view, 1> losses = {"losses"};
  hook.save_tensor(hook.declare("ClassLoss_output_0", losses),
                   trainwarden::TensorView::of(&result.loss, trainwarden::DType::kFloat64, trainwarden::Shape({})));
  hook.save_scalar("val_accuracy", result.scores.accuracy());
  hook.save_scalar("val_kappa", result.scores.kappa());
}

void ClassTask::finish() {
  if (classes_.enable_tensorboard) group_.barrier();  // until all hooks are closed
  if (board_) board_->finish();
  if (!data_.test.empty()) {
    tested_ = judge_first(data_.test, classes_.test_batches, classes_.test_batch_size);
    std::printf("of the test  %s\n", scores_text(*tested_).c_str());
  }
  if (classes_.run_sample_predictions && group_.rank() == 0) tell_samples();
}

void ClassTask::tell_samples() {
  const std::vector<ClassText>& all = judged_texts().empty() ? data_.train : judged_texts();
  const std::span<const ClassText> texts = std::span(all).first(std::min(kSamples, all.size()));
  const ClassResult result = judge(model_, {.texts = texts, .batch_size = kSamples, .padding = padding()});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::printf("%s\n",
                sample_text(texts[i].text, result.probabilities[static_cast<std::int64_t>(i)], data_.names).c_str());
  }
}

std::map<std::string, std::string> ClassTask::identity() const {
  return {{"train", classes_.train.filename().string()},
          {"texts", std::to_string(data_.train.size())},
          {"max_length", std::to_string(classes_.max_length)},
          {"class_weights", classes_.class_weights},
          {"freeze_encoder", classes_.freeze_encoder ? "true" : "false"}};
}

std::string ClassTask::summary() const {
  const std::string left_out =
      data_.left_out == 0 ? "" : format("%zu texts are left out: they are empty or have no class\n", data_.left_out);
  return left_out + format("%zu texts of %zu classes to train on%s, %zu to judge by, %zu for the test",
                           data_.train.size(), data_.names.size(), classes_.freeze_encoder ? " (the head alone)" : "",
                           data_.validation.size(), data_.test.size());
}

void ClassTask::save_model(const fs::path& folder) const {
  bert::save_model(folder, *model_, config_, Head::kClassification, options_.model, tokenizer_);
}

void ClassTask::write_result(const fs::path& file, const TrainOutcome& outcome) const {
  ClassReport report{.data = data_, .outcome = outcome, .precision = options_.precision};
  if (first_ && !outcome.resumed) report.before = &*first_;
  if (last_) report.after = &*last_;
  if (tested_) report.test = &*tested_;
  write_class_report(file, report);
}

}  // namespace bert
