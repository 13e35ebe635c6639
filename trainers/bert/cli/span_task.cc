#include "cli/span_task.h"

#include <array>
#include <cstdio>
#include <iterator>

#include <nlohmann/json.hpp>
#include <torch/utils.h>

#include "cli/capture.h"
#include "cli/setup.h"
#include "training/determinism.h"
#include "weights/exporting.h"
#include "weights/file_bytes.h"
#include "weights/loading.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

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

nlohmann::ordered_json as_json(const SpanResult& result) {
  return {{"f1", result.f1},
          {"exact_match", result.exact_match},
          {"windows", result.windows},
          {"windows_per_second", static_cast<double>(result.windows) / result.seconds}};
}

// Of all steps that this process has made.
nlohmann::ordered_json as_json(const Overlap& overlap) {
  return {{"bytes", overlap.bytes},
          {"wire_bytes", overlap.wire_bytes},
          {"travelled_seconds", static_cast<double>(overlap.travelled_ns) * 1e-9},
          {"hidden_seconds", static_cast<double>(overlap.hidden_ns) * 1e-9}};
}

nlohmann::json names_of(const std::vector<fs::path>& files) {
  nlohmann::json names = nlohmann::json::array();
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return names;
}

void save_scores(trainwarden::Hook& hook, const SpanResult& result) {
  hook.save_scalar("f1", result.f1);
  hook.save_scalar("exact_match", result.exact_match);
  const auto count = static_cast<std::int64_t>(result.f1_of_question.size());
  hook.save_tensor("f1_per_item",
                   trainwarden::TensorView::of(result.f1_of_question.data(), trainwarden::DType::kFloat64,
                                               trainwarden::Shape({count})));
}

}  // namespace

SpanTask::SpanTask(const TrainOptions& options, const SpanOptions& spans, at::Device device, Group& group)
    : options_(options),
      spans_(spans),
      device_(device),
      group_(group),
      config_(read_config(options.model)),
      tokenizer_(load_tokenizer()),
      examples_(read_examples(options, spans, tokenizer_)),
      dev_(draw_questions(read_questions(spans.dev).all, spans.dev_size, options.seed)),
      evaluation_(dev_, tokenizer_, spans, &group),
      model_(load_model()) {}

Tokenizer SpanTask::load_tokenizer() const {
  Tokenizer tokenizer = Tokenizer::load(options_.model, {});
  check_fits(config_, tokenizer.vocabulary(), spans_.max_length, options_.model.string());
  return tokenizer;
}

BertForSpans SpanTask::load_model() const {
  seed_all(options_.seed);
  BertForSpans model(config_);
  const LoadReport report = load_weights(*model, config_, read_model_tensors(options_.model), options_.model.string());
  for (const std::string& name : report.fresh) std::printf("new weights: %s\n", name.c_str());
  model->to(device_);
  return model;
}

at::Tensor SpanTask::loss(const Batch& batch, double divisor) {
  std::vector<const Window*> windows;
  for (std::int64_t i = 0; i < batch.real; ++i)
    windows.push_back(&examples_.windows[static_cast<std::size_t>(batch.examples[static_cast<std::size_t>(i)])]);
  const SpanBatch made = make_batch(windows, padding(), device_);
  return span_loss(model_->forward(made.inputs, {.skip_padding = options_.skip_padding}), made, batch.real, divisor);
}

std::string SpanTask::evaluate(trainwarden::Hook& hook) {
  const bool first_rank = group_.rank() == 0;
  if (first_rank) look_at_attention(hook);
  SpanResult result = evaluation_.run(model_);
  if (first_rank) save_scores(hook, result);
  last_ = std::move(result);
  if (!first_) first_ = last_;
  return format("f1 %.2f  exact match %.2f  (%ld questions, %.1f windows/s)", last_->f1, last_->exact_match,
                evaluation_.question_count(), static_cast<double>(last_->windows) / last_->seconds);
}

// The same few windows each time, so that what changes is the model.
void SpanTask::look_at_attention(trainwarden::Hook& hook) {
  if (spans_.looked_at == 0 || !wants_attention(hook)) return;
  const at::NoGradGuard no_grad;
  const std::vector<const Window*> windows = evaluation_.first_windows(spans_.looked_at);
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
  return left_out + format("%zu questions in %zu windows to train on, %zu of %s to evaluate",
                           examples_.questions.size(), examples_.windows.size(), dev_.size(),
                           spans_.dev.filename().c_str());
}

void SpanTask::save_model(const fs::path& folder) const {
  export_model(folder, *model_, config_, {.head = Head::kSpan, .vocabulary = options_.model / "vocab.txt"});
}

void SpanTask::write_result(const fs::path& file, const TrainOutcome& outcome) const {
  nlohmann::ordered_json json = {{"dev", spans_.dev.filename().string()}, {"questions", dev_.size()}};
  json["train"] = {{"files", names_of(spans_.train)}, {"questions", examples_.questions.size()}};
  if (first_ && !outcome.resumed) json["before"] = as_json(*first_);
  if (last_) json["after"] = as_json(*last_);
  json["steps"] = outcome.steps;
  json["train_seconds"] = outcome.seconds;
  json["train_windows_per_second"] = static_cast<double>(outcome.examples) / outcome.seconds;
  if (outcome.ranks > 1) {
    json["ranks"] = outcome.ranks;
    json["gradients"] = as_json(outcome.overlap);
  }
  if (!outcome.stop_reason.empty()) json["stopped"] = outcome.stop_reason;
  AtomicFile out(file);
  out.append(json.dump(2) + "\n");
  out.commit();
}

}  // namespace bert
