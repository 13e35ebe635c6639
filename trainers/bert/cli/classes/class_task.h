// Telling which class a text is of: stars of a review, say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/board.h"
#include "cli/classes/class_data.h"
#include "cli/classes/class_evaluation.h"
#include "cli/classes/class_options.h"
#include "cli/ranks.h"
#include "cli/task.h"
#include "cli/train_loop.h"
#include "cli/training_means.h"
#include "model/heads.h"
#include "text/tokenizer.h"

namespace bert {

class ClassTask : public Task {
 public:
  // Reads texts and model; the options are settled. Throws std::runtime_error for files that are wrong,
  // std::invalid_argument for options. The rank must live as long: all share each evaluation.
  ClassTask(const TrainOptions& options, const ClassOptions& classes, ThisRank& rank);

  torch::nn::Module& model() override { return *model_; }
  const ModelConfig& config() const override { return config_; }
  std::int64_t example_count() const override { return static_cast<std::int64_t>(data_.train.size()); }
  std::string_view loss_name() const override { return "ClassLoss"; }
  at::Tensor loss(const Batch& batch, double divisor) override;
  std::string evaluate(trainwarden::Hook& hook) override;
  std::map<std::string, std::string> identity() const override;
  std::string summary() const override;
  void save_model(const std::filesystem::path& folder) const override;

  // After the training, on all ranks: what is asked for of the test and of samples, in lines of output, and the end of
  // TensorBoard's files. Throws PeerLost.
  void finish();
  // Figures of the evaluations, and what was trained on what: result.json. Throws std::runtime_error.
  void write_result(const std::filesystem::path& file, const TrainOutcome& outcome) const;

 private:
  ModelConfig config_for_classes() const;
  BertForClassification load_classifier() const;
  ClassResult judge_first(const std::vector<ClassText>& texts, std::int64_t batches, std::int64_t batch_size);
  void validate(trainwarden::Hook& hook);
  void capture(trainwarden::Hook& hook, const ClassResult& result) const;
  void tell_samples();
  const std::vector<ClassText>& judged_texts() const { return data_.test.empty() ? data_.validation : data_.test; }
  std::int32_t padding() const { return tokenizer_.vocabulary().padding(); }

  const TrainOptions options_;
  const ClassOptions classes_;
  const at::Device device_;
  Group& group_;
  const ModelConfig shape_;  // as the model's folder has it
  const Tokenizer tokenizer_;
  const ClassData data_;
  const ModelConfig config_;  // with the names of the classes
  const at::Tensor weights_;  // of classes in the loss; undefined: all 1
  BertForClassification model_;
  TrainingMeans means_;
  std::optional<Board> board_;
  std::optional<ClassResult> first_, last_, tested_;  // of evaluations in this process
};

}  // namespace bert
