// Finding answers in texts: the task of SQuAD.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ranks.h"
#include "cli/spans/span_data.h"
#include "cli/spans/span_judge.h"
#include "cli/spans/span_options.h"
#include "cli/task.h"
#include "cli/train_loop.h"
#include "cli/train_options.h"
#include "model/heads.h"
#include "text/tokenizer.h"

namespace bert {

// What is trained on: windows of questions whose answer is at its place.
struct SpanExamples {
  std::vector<Question> questions;
  std::vector<Window> windows;
  std::size_t left_out = 0;  // questions whose answer is not
};

class SpanTask : public Task {
 public:
  // Reads files and model. Throws std::runtime_error for files that are wrong, std::invalid_argument for options.
  // The rank must live as long: all share each evaluation.
  SpanTask(const TrainOptions& options, const SpanOptions& spans, ThisRank& rank);

  torch::nn::Module& model() override { return *model_; }
  const ModelConfig& config() const override { return config_; }
  std::int64_t example_count() const override { return static_cast<std::int64_t>(examples_.windows.size()); }
  std::string_view loss_name() const override { return "SpanLoss"; }
  at::Tensor loss(const Batch& batch, double divisor) override;
  std::string evaluate(trainwarden::Hook& hook) override;
  std::string evaluate_at_end(trainwarden::Hook& hook) override;
  std::string reason_to_stop() const override { return judge_.reason_to_stop(); }
  std::map<std::string, std::string> identity() const override;
  std::string summary() const override;
  void save_model(const std::filesystem::path& folder) const override;

  SpanJudge& judge() { return judge_; }

  // Figures of the first evaluation and of the last, and what was trained on what: result.json. Throws
  // std::runtime_error.
  void write_result(const std::filesystem::path& file, const TrainOutcome& outcome) const;

 private:
  void look_at_attention(trainwarden::Hook& hook);
  std::int64_t padding() const { return tokenizer_.vocabulary().padding(); }

  const TrainOptions options_;
  const SpanOptions spans_;
  const at::Device device_;
  const ModelConfig config_;
  const Tokenizer tokenizer_;
  const SpanExamples examples_;
  SpanJudge judge_;
  BertForSpans model_;
};

}  // namespace bert
