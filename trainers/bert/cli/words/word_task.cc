#include "cli/words/word_task.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <c10/core/InferenceMode.h>
#include <nlohmann/json.hpp>

#include "cli/model_folder.h"
#include "cli/shared_work.h"
#include "cli/text.h"
#include "cli/words/word_data.h"
#include "files/writing.h"

namespace bert {
namespace {

constexpr std::uint64_t kRoundOfEvaluations = UINT64_MAX;  // so that what is held out is masked alike each time

std::vector<Pieces> windows_of_all(const std::vector<std::string>& documents, const Tokenizer& tokenizer,
                                   std::int64_t max_length) {
  std::vector<Pieces> windows;
  for (const std::string& document : documents) {
    for (Pieces& window : windows_of_document(tokenizer, document, static_cast<std::size_t>(max_length)))
      windows.push_back(std::move(window));
  }
  return windows;
}

nlohmann::ordered_json as_figures(const Means& means) {
  return {{"loss", means.loss}, {"accuracy", means.accuracy}};
}

}  // namespace

WordTask::WordTask(const TrainOptions& options, const WordOptions& words, ThisRank& rank)
    : options_(options),
      words_(words),
      device_(rank.device()),
      group_(rank.group()),
      config_(trained_config(options)),
      tokenizer_(load_tokenizer(options.model, config_, words.max_length)),
      model_(load_model<BertForMaskedWords>(config_, options, device_)) {
  if (options.ranks.embedding_rows) {
    throw std::invalid_argument("--embedding-rows: saying which words were masked moves all rows of the embedding");
  }
  const HeldOut parts = hold_out(read_documents(words.texts), words.held_out, options.seed);
  train_ = windows_of_all(parts.rest, tokenizer_, words.max_length);
  held_out_ = windows_of_all(parts.held_out, tokenizer_, words.max_length);
  if (train_.empty() || held_out_.empty()) {
    throw std::runtime_error(words.texts.string() +
                             ": expected documents with words to train on and to judge by, found " +
                             std::to_string(parts.rest.size()) + " and " + std::to_string(parts.held_out.size()) +
                             "; --held-out says which fraction is judged by");
  }
}

at::Tensor WordTask::loss(const Batch& batch, double divisor) {
  std::vector<MaskedPieces> windows;
  std::int64_t asked = 0;
  for (std::int64_t i = 0; i < batch.real; ++i) {
    const auto number = static_cast<std::uint64_t>(batch.examples[static_cast<std::size_t>(i)]);
    windows.push_back(mask_pieces(train_[number], tokenizer_.vocabulary(), options_.seed,
                                  static_cast<std::uint64_t>(batch.epoch), number));
    asked += static_cast<std::int64_t>(windows.back().places.size());
  }
  const WordAnswers answers =
      answer_words(model_, make_word_batch(windows, tokenizer_.vocabulary().padding(), device_), options_.skip_padding);
  means_.add(answers.loss, batch.real, answers.hits, asked);
  return answers.loss / divisor;
}

Means WordTask::judge() {
  const c10::InferenceMode inference;
  TrainingMeans means;
  model_->eval();
  const auto batch_size = static_cast<std::size_t>(words_.evaluation_batch_size);
  for (const Turn& turn : turns_of(&group_, held_out_.size(), batch_size)) {
    std::vector<MaskedPieces> windows;
    std::int64_t asked = 0;
    for (std::size_t i = turn.begin; i < turn.end; ++i) {
      windows.push_back(mask_pieces(held_out_[i], tokenizer_.vocabulary(), options_.seed, kRoundOfEvaluations, i));
      asked += static_cast<std::int64_t>(windows.back().places.size());
    }
    const WordBatch batch = make_word_batch(windows, tokenizer_.vocabulary().padding(), device_);
    const WordAnswers answers = answer_words(model_, batch, true);
    means.add(answers.loss, static_cast<std::int64_t>(windows.size()), answers.hits, asked);
  }
  model_->train();
  return means.take(group_).value();
}

std::string WordTask::evaluate(trainwarden::Hook& hook) {
  last_ = judge();
  if (!first_) first_ = last_;
  const std::array<std::string_view, 1> losses = {"losses"};
  hook.save_tensor(hook.declare("WordLoss_output_0", losses),
                   trainwarden::TensorView::of(&last_->loss, trainwarden::DType::kFloat64, trainwarden::Shape({})));
  hook.save_scalar("val_accuracy", last_->accuracy);
  if (const auto training = means_.take(group_)) return metrics_text(*training, &*last_);
  return format("loss %.4f  accuracy %.4f", last_->loss, last_->accuracy);
}

std::map<std::string, std::string> WordTask::identity() const {
  return {{"texts", words_.texts.filename().string()},
          {"held_out", std::to_string(words_.held_out)},
          {"max_length", std::to_string(words_.max_length)}};
}

std::string WordTask::summary() const {
  return std::to_string(train_.size()) + " windows to train on, " + std::to_string(held_out_.size()) + " of " +
         words_.texts.filename().string() + " to judge by";
}

void WordTask::save_model(const std::filesystem::path& folder) const {
  bert::save_model(folder, *model_, config_, Head::kMaskedWords, options_.model, tokenizer_);
}

void WordTask::write_result(const std::filesystem::path& file, const TrainOutcome& outcome) const {
  nlohmann::ordered_json json = {
      {"texts", words_.texts.filename().string()}, {"windows", train_.size()}, {"held_out_windows", held_out_.size()}};
  if (first_ && !outcome.resumed) json["before"] = as_figures(*first_);
  if (last_) json["after"] = as_figures(*last_);
  json["steps"] = outcome.steps;
  json["train_seconds"] = outcome.seconds;
  json["train_windows_per_second"] = static_cast<double>(outcome.examples) / outcome.seconds;
  add_ranks(json, outcome);
  if (!outcome.stop_reason.empty()) json["stopped"] = outcome.stop_reason;
  write_text(file, json.dump(2) + "\n");
}

}  // namespace bert
