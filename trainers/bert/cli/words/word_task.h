// Saying which words were masked: what BERT learns before it is fine-tuned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ranks.h"
#include "cli/task.h"
#include "cli/train_loop.h"
#include "cli/training_means.h"
#include "cli/words/word_options.h"
#include "model/heads.h"
#include "text/tokenizer.h"
#include "words/documents.h"

namespace bert {

class WordTask : public Task {
 public:
  // Reads texts and model. Throws std::runtime_error for files that are wrong, std::invalid_argument for options. The
  // rank must live as long: all share each evaluation.
  WordTask(const TrainOptions& options, const WordOptions& words, ThisRank& rank);

  torch::nn::Module& model() override { return *model_; }
  const ModelConfig& config() const override { return config_; }
  std::int64_t example_count() const override { return static_cast<std::int64_t>(train_.size()); }
  std::string_view loss_name() const override { return "WordLoss"; }
  // Each window counts as much, however many of its words are asked for. Each epoch masks others.
  at::Tensor loss(const Batch& batch, double divisor) override;
  std::string evaluate(trainwarden::Hook& hook) override;
  std::map<std::string, std::string> identity() const override;
  std::string summary() const override;
  void save_model(const std::filesystem::path& folder) const override;

  // Figures of the first evaluation and of the last: result.json. Throws std::runtime_error.
  void write_result(const std::filesystem::path& file, const TrainOutcome& outcome) const;

 private:
  Means judge();

  const TrainOptions options_;
  const WordOptions words_;
  const at::Device device_;
  Group& group_;
  const ModelConfig config_;
  const Tokenizer tokenizer_;
  std::vector<Pieces> train_, held_out_;  // windows
  BertForMaskedWords model_;
  TrainingMeans means_;
  std::optional<Means> first_, last_;  // of evaluations in this process
};

}  // namespace bert
