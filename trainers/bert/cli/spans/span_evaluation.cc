#include "cli/spans/span_evaluation.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <c10/core/InferenceMode.h>

#include "cli/shared_work.h"
#include "squad/evaluation.h"

namespace bert {
namespace {

// Few sizes of batches, so that little is padded.
std::vector<const Window*> sorted_by_length(const std::vector<Window>& windows) {
  std::vector<const Window*> sorted;
  for (const Window& window : windows) sorted.push_back(&window);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Window* a, const Window* b) { return a->ids.size() > b->ids.size(); });
  return sorted;
}

// One of the two numbers of the first `length` places of a row. `logits`: float32 [B, T, 2], contiguous.
std::vector<float> logits_of(const at::Tensor& logits, std::int64_t row, std::size_t length, std::int64_t which) {
  const float* first = logits.data_ptr<float>() + row * logits.size(1) * 2 + which;
  std::vector<float> numbers(length);
  for (std::size_t i = 0; i < length; ++i) numbers[i] = first[2 * i];
  return numbers;
}

}  // namespace

SpanEvaluation::SpanEvaluation(const std::vector<Question>& questions, const Tokenizer& tokenizer,
                               const SpanOptions& options, Group* group)
    : questions_(questions), tokenizer_(tokenizer), options_(options), group_(group) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (Window& window : windows_of(questions[i], i, tokenizer, window_options(options), Labels::kNone)) {
      windows_.push_back(std::move(window));
    }
    has_impossible_ = has_impossible_ || questions[i].is_impossible;
  }
  by_length_ = sorted_by_length(windows_);
  for (const Window& window : windows_) {
    begin_logits_.emplace_back(window.ids.size());
    end_logits_.emplace_back(window.ids.size());
  }
}

void SpanEvaluation::predict(BertForSpans& model, const std::function<void(std::int64_t)>& told) {
  const at::Device device = model->parameters().front().device();
  const auto batch_size = static_cast<std::size_t>(options_.evaluation_batch_size);
  for (auto* of_windows : {&begin_logits_, &end_logits_}) {
    for (std::vector<float>& logits : *of_windows) std::fill(logits.begin(), logits.end(), 0.0f);
  }
  for (const Turn& turn : turns_of(group_, by_length_.size(), batch_size)) {
    const std::span<const Window* const> chosen(by_length_.data() + turn.begin, turn.end - turn.begin);
    const SpanBatch batch = make_batch(chosen, tokenizer_.vocabulary().padding(), device);
    const at::Tensor logits =
        model->forward(batch.inputs, {.skip_padding = true}).to(at::kCPU, at::kFloat).contiguous();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto window = static_cast<std::size_t>(chosen[i] - windows_.data());
      begin_logits_[window] = logits_of(logits, static_cast<std::int64_t>(i), chosen[i]->ids.size(), 0);
      end_logits_[window] = logits_of(logits, static_cast<std::int64_t>(i), chosen[i]->ids.size(), 1);
    }
    if (told) told(static_cast<std::int64_t>(turn.end));
  }
  if (group_ != nullptr && group_->size() > 1) gather();
}

// Of each window one rank has the logits.
void SpanEvaluation::gather() {
  std::int64_t count = 0;
  for (const std::vector<float>& logits : begin_logits_) count += 2 * static_cast<std::int64_t>(logits.size());
  at::Tensor all = at::empty({count}, at::kFloat);
  float* place = all.data_ptr<float>();
  for (const auto* of_windows : {&begin_logits_, &end_logits_}) {
    for (const std::vector<float>& logits : *of_windows) place = std::copy(logits.begin(), logits.end(), place);
  }
  all = put_together(group_, all);
  const float* from = all.data_ptr<float>();
  for (auto* of_windows : {&begin_logits_, &end_logits_}) {
    for (std::vector<float>& logits : *of_windows) {
      std::copy_n(from, logits.size(), logits.begin());
      from += logits.size();
    }
  }
}

SpanResult SpanEvaluation::run(BertForSpans& model, const std::function<void(std::int64_t)>& told) {
  const bool was_training = model->is_training();
  model->eval();
  const auto begin = std::chrono::steady_clock::now();
  {
    const c10::InferenceMode inference;
    predict(model, told);
  }
  SpanResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.windows = window_count();
  model->train(was_training);
  result.predictions = answers();
  score(result);
  return result;
}

std::vector<Prediction> SpanEvaluation::answers() const {
  const AnswerOptions options = {.max_answer_pieces = static_cast<std::size_t>(options_.max_answer),
                                 .may_be_impossible = has_impossible_};
  std::vector<Prediction> predictions;
  std::vector<WindowLogits> of_question;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const std::size_t number = windows_[i].question;
    of_question.push_back({.window = &windows_[i], .begin = begin_logits_[i], .end = end_logits_[i]});
    if (i + 1 < windows_.size() && windows_[i + 1].question == number) continue;
    predictions.push_back(answer(questions_[number], tokenizer_, of_question, options));
    of_question.clear();
  }
  return predictions;
}

void SpanEvaluation::score(SpanResult& result) const {
  std::vector<PredictedText> texts;
  for (const Prediction& prediction : result.predictions) {
    texts.push_back(
        {.id = prediction.id, .text = prediction.text, .impossible_probability = prediction.impossible_margin});
  }
  std::vector<Score> scores;
  if (has_impossible_) {
    EvaluationV2 evaluation = evaluate_v2(questions_, texts, std::numeric_limits<double>::infinity());
    result.f1 = evaluation.all.f1, result.exact_match = evaluation.all.exact;
    scores = std::move(evaluation.of_question);
  } else {
    EvaluationV1 evaluation = evaluate_v1(questions_, texts);
    result.f1 = evaluation.f1, result.exact_match = evaluation.exact_match;
    scores = std::move(evaluation.of_question);
  }
  for (const Score& score : scores) result.f1_of_question.push_back(100 * score.f1);
}

std::vector<const Window*> SpanEvaluation::first_windows(std::int64_t count) const {
  std::vector<const Window*> first;
  for (const Window& window : windows_) {
    if (static_cast<std::int64_t>(first.size()) == count) break;
    if (first.empty() || first.back()->question != window.question) first.push_back(&window);
  }
  return first;
}

}  // namespace bert
