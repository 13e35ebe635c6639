#include "cli/spans/span_task.h"

#include <cstdio>
#include <iterator>

#include <torch/utils.h>
#include <nlohmann/json.hpp>

#include "cli/capture.h"
#include "cli/model_folder.h"
#include "cli/text.h"
#include "files/writing.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

SpanExamples read_examples(const TrainOptions& options, const SpanOptions& spans, const Tokenizer& tokenizer) {
  SpanExamples examples;
  for (const fs::path& file : spans.train) {
    std::vector<Question> read = read_questions(file).all;
    examples.questions.insert(examples.questions.end(), std::make_move_iterator(read.begin()),
                              std::make_move_iterator(read.end()));
  }
  examples.questions = draw_questions(std::move(examples.questions), spans.train_size, options.seed);
  for (std::size_t i = 0; i < examples.questions.size(); ++i) {
    if (!is_answer_in_its_words(examples.questions[i])) {
      ++examples.left_out;
      continue;
    }
    for (Window& window :
         windows_of(examples.questions[i], i, tokenizer, window_options(spans), Labels::kFirstAnswer)) {
      examples.windows.push_back(std::move(window));
    }
  }
  return examples;
}

nlohmann::json names_of(const std::vector<fs::path>& files) {
  nlohmann::json names = nlohmann::json::array();
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return names;
}

}  // namespace

SpanTask::SpanTask(const TrainOptions& options, const SpanOptions& spans, ThisRank& rank)
    : options_(options),
      spans_(spans),
      device_(rank.device()),
      config_(trained_config(options)),
      tokenizer_(load_tokenizer(options.model, config_, spans.max_length)),
      examples_(read_examples(options, spans, tokenizer_)),
      judge_(spans, tokenizer_, options.seed, rank.group()),
      model_(load_model<BertForSpans>(config_, options, device_)) {}

at::Tensor SpanTask::loss(const Batch& batch, double divisor) {
  std::vector<const Window*> windows;
  for (std::int64_t i = 0; i < batch.real; ++i)
    windows.push_back(&examples_.windows[static_cast<std::size_t>(batch.examples[static_cast<std::size_t>(i)])]);
  const SpanBatch made = make_batch(windows, padding(), device_);
  return span_loss(model_->forward(made.inputs, {.skip_padding = options_.skip_padding}), made, batch.real, divisor);
}

std::string SpanTask::evaluate(trainwarden::Hook& hook) {
  look_at_attention(hook);
  return judge_.look(model_, hook);
}

std::string SpanTask::evaluate_at_end(trainwarden::Hook& hook) {
  look_at_attention(hook);
  return judge_.look_at_all(model_, hook);
}

// The same few windows each time, so that what changes is the model.
void SpanTask::look_at_attention(trainwarden::Hook& hook) {
  if (spans_.looked_at == 0 || !wants_attention(hook)) return;
  const at::NoGradGuard no_grad;
  const std::vector<const Window*> windows = judge_.looked_at();
  const SpanBatch batch = make_batch(windows, padding(), device_);
  Seen seen;
  model_->eval();
  model_->forward(batch.inputs, {.seen = &seen});
  model_->train();
  save_tokens(hook, batch.inputs.ids, tokenizer_.vocabulary());
  save_attention(hook, seen.attention);
}

std::map<std::string, std::string> SpanTask::identity() const {
  return {{"train", names_of(spans_.train).dump()},
          {"train_size", std::to_string(spans_.train_size)},
          {"max_length", std::to_string(spans_.max_length)},
          {"stride", std::to_string(spans_.stride) + " " + spans_.stride_means}};
}

std::string SpanTask::summary() const {
  const std::string left_out =
      examples_.left_out == 0
          ? ""
          : format("%zu questions are left out: their answers are not at their places\n", examples_.left_out);
  return left_out + format("%zu questions in %zu windows to train on, %ld of %s to evaluate",
                           examples_.questions.size(), examples_.windows.size(), judge_.question_count(),
                           spans_.dev.filename().c_str());
}

void SpanTask::save_model(const fs::path& folder) const {
  bert::save_model(folder, *model_, config_, Head::kSpan, options_.model, tokenizer_);
}

void SpanTask::write_result(const fs::path& file, const TrainOutcome& outcome) const {
  nlohmann::ordered_json json = {{"dev", spans_.dev.filename().string()}, {"questions", judge_.question_count()}};
  json["train"] = {{"files", names_of(spans_.train)}, {"questions", examples_.questions.size()}};
  judge_.add_to(json, !outcome.resumed);
  json["steps"] = outcome.steps;
  json["train_seconds"] = outcome.seconds;
  json["train_windows_per_second"] = static_cast<double>(outcome.examples) / outcome.seconds;
  add_ranks(json, outcome);
  if (!outcome.stop_reason.empty()) json["stopped"] = outcome.stop_reason;
  write_text(file, json.dump(2) + "\n");
}

}  // namespace bert
