#include "cli/spans/span_judge.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli/text.h"

namespace bert {
namespace {

constexpr std::size_t kPartOfSample = 10;  // where a target is given and no size: a tenth of the questions

// What is drawn for the sample must not follow from what was drawn for the whole by the same seed.
std::uint64_t seed_of_sample(std::uint64_t seed) {
  return seed ^ 0x9e3779b97f4a7c15ULL;
}

Split draw_sample(std::size_t questions, const SpanOptions& options, std::uint64_t seed) {
  auto count = static_cast<std::size_t>(options.sample_size);
  if (count == 0) count = options.f1_threshold > 0 ? std::max<std::size_t>(questions / kPartOfSample, 1) : questions;
  return split_at_random(questions, count, seed_of_sample(seed));
}

std::vector<Question> those_of(const std::vector<Question>& questions, const Split& split) {
  std::vector<Question> sample;
  if (split.rest.empty()) return sample;
  for (const std::size_t i : split.sample) sample.push_back(questions[i]);
  return sample;
}

// Captures the figures under names that end in `of`.
void save(trainwarden::Hook& hook, const SpanResult& result, const std::string& of) {
  const auto count = static_cast<std::int64_t>(result.f1_of_question.size());
  hook.save_scalar("f1" + of, result.f1);
  hook.save_scalar("exact_match" + of, result.exact_match);
  hook.save_tensor("f1" + of + "_per_item",
                   trainwarden::TensorView::of(result.f1_of_question.data(), trainwarden::DType::kFloat64,
                                               trainwarden::Shape({count})));
}

nlohmann::ordered_json as_json(const SpanResult& result) {
  return {{"questions", result.f1_of_question.size()},
          {"f1", result.f1},
          {"exact_match", result.exact_match},
          {"windows", result.windows},
          {"windows_per_second", static_cast<double>(result.windows) / result.seconds}};
}

std::string in_words(const SpanResult& result) {
  return format("f1 %.2f  exact match %.2f  (%zu questions, %.1f windows/s)", result.f1, result.exact_match,
                result.f1_of_question.size(), static_cast<double>(result.windows) / result.seconds);
}

}  // namespace

SpanJudge::SpanJudge(const SpanOptions& options, const Tokenizer& tokenizer, std::uint64_t seed, Group& group)
    : options_(options),
      tokenizer_(tokenizer),
      group_(group),
      questions_(draw_questions(read_questions(options.dev).all, options.dev_size, seed)),
      split_(draw_sample(questions_.size(), options, seed)),
      sample_(those_of(questions_, split_)),
      evaluation_(has_sample() ? sample_ : questions_, tokenizer, options, &group),
      target_{.mean = options.f1_threshold, .population = static_cast<std::int64_t>(questions_.size())} {}

std::string SpanJudge::look(BertForSpans& model, trainwarden::Hook& hook) {
  last_ = evaluation_.run(model);
  if (!first_) first_ = last_;
  save(hook, *last_, "");
  if (target_.mean == 0) return in_words(*last_);
  look_ = look_at(last_->f1_of_question, target_);
  hook.save_scalar("f1_not_below", look_->not_below);
  return format("%s  not below %.2f", in_words(*last_).c_str(), look_->not_below);
}

std::string SpanJudge::look_at_all(BertForSpans& model, trainwarden::Hook& hook) {
  if (!has_sample()) return look(model, hook);
  at_end_ = SpanEvaluation(questions_, tokenizer_, options_, &group_).run(model);
  save(hook, *at_end_, "_of_all");
  return in_words(*at_end_);
}

std::string SpanJudge::reason_to_stop() const {
  if (!look_ || !look_->reached) return "";
  return format(
      "f1 has reached its target %g: it is %.2f over %zu of %zu questions, and with %g %% confidence, over all "
      "%ld looks together, not below %.2f over all of them",
      target_.mean, look_->mean, last_->f1_of_question.size(), questions_.size(), 100 * (1 - target_.alpha),
      target_.looks, look_->not_below);
}

std::string SpanJudge::both_figures() const {
  if (!has_sample() || !last_ || !at_end_) return "";
  std::string text = format(
      "f1 on the sample, when it was looked at last: %.2f (%zu questions); on the full set: %.2f (%zu questions); "
      "on those that no look saw: %.2f (%zu)",
      last_->f1, sample_.size(), at_end_->f1, questions_.size(), f1_of_rest(), split_.rest.size());
  if (look_ && look_->reached && at_end_->f1 < target_.mean) {
    text += format(
        "\nThe full set is below the target %g after all, which has a chance of at most %g %%: the same "
        "command with a higher --f1-threshold goes on from the checkpoint",
        target_.mean, 100 * target_.alpha);
  }
  return text;
}

double SpanJudge::f1_of_rest() const {
  double sum = 0;
  for (const std::size_t i : split_.rest) sum += at_end_->f1_of_question[i];
  return sum / static_cast<double>(split_.rest.size());
}

void SpanJudge::add_to(nlohmann::ordered_json& result, bool has_first) const {
  if (first_ && has_first) result["before"] = as_json(*first_);
  const std::optional<SpanResult>& after = has_sample() ? at_end_ : last_;
  if (after) result["after"] = as_json(*after);
  if (has_sample() && last_) result["sample"] = as_json(*last_);
  if (has_sample() && at_end_) result["rest"] = {{"questions", split_.rest.size()}, {"f1", f1_of_rest()}};
  if (!look_) return;
  result["target"] = {{"f1", target_.mean},
                      {"reached", look_->reached},
                      {"f1_not_below", look_->not_below},
                      {"confidence", 1 - target_.alpha},
                      {"looks", target_.looks}};
}

std::vector<const Window*> SpanJudge::looked_at() const {
  return evaluation_.first_windows(options_.looked_at);
}

}  // namespace bert
