#include "squad/evaluation.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "squad/normalized_text.h"

namespace bert {
namespace {

using AnswerWords = std::vector<std::string>;
using NumberOfId = std::unordered_map<std::string_view, std::size_t>;  // in predictions

std::size_t count_of_common(const AnswerWords& a, const AnswerWords& b) {
  std::unordered_map<std::string_view, std::size_t> left;
  for (const std::string& word : a) ++left[word];
  std::size_t common = 0;
  for (const std::string& word : b) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  return common;
}

double f1_of(const AnswerWords& prediction, const AnswerWords& answer) {
  const auto common = static_cast<double>(count_of_common(prediction, answer));
  if (common == 0) return 0;
  const double precision = common / static_cast<double>(prediction.size());
  const double recall = common / static_cast<double>(answer.size());
  return (2 * precision * recall) / (precision + recall);
}

Score best_of(const Score& a, const Score& b) {
  return {std::max(a.exact, b.exact), std::max(a.f1, b.f1)};
}

NumberOfId numbers_of(const std::vector<PredictedText>& predictions) {
  NumberOfId numbers;
  for (std::size_t i = 0; i < predictions.size(); ++i) numbers[predictions[i].id] = i;
  return numbers;
}

PartOfEvaluation mean_of(const std::vector<Question>& questions, const std::vector<Score>& scores,
                         std::optional<bool> with_answer) {
  PartOfEvaluation part;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (with_answer && *with_answer == questions[i].answers.empty()) continue;
    part.exact += scores[i].exact;
    part.f1 += scores[i].f1;
    ++part.total;
  }
  if (part.total == 0) return part;
  part.exact = 100 * part.exact / static_cast<double>(part.total);
  part.f1 = 100 * part.f1 / static_cast<double>(part.total);
  return part;
}

// A question in the search for the best threshold.
struct Considered {
  double impossible_probability = 0;
  Score gain;  // of predicting its text in place of ""
};

template <class Get>
BestThreshold best_threshold(const std::vector<Considered>& ascending, std::size_t without_answer, const Get& get) {
  double score = static_cast<double>(without_answer);
  BestThreshold best{score, 0};
  for (const Considered& question : ascending) {
    score += get(question.gain);
    if (score > best.score) best = {score, question.impossible_probability};
  }
  if (!ascending.empty()) best.score = 100 * best.score / static_cast<double>(ascending.size());
  return best;
}

void find_best_thresholds(const std::vector<Question>& questions, const std::vector<Score>& raw,
                          const std::vector<PredictedText>& predictions, EvaluationV2& evaluation) {
  std::unordered_map<std::string_view, std::size_t> question_of;
  std::size_t without_answer = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    question_of[questions[i].id] = i;
    if (questions[i].answers.empty()) ++without_answer;
  }
  std::vector<Considered> considered;
  for (const PredictedText& prediction : predictions) {
    const auto found = question_of.find(prediction.id);
    if (found == question_of.end()) continue;
    const double loss = prediction.text.empty() ? 0 : -1;
    const bool has_answer = !questions[found->second].answers.empty();
    considered.push_back({prediction.impossible_probability, has_answer ? raw[found->second] : Score{loss, loss}});
  }
  std::stable_sort(considered.begin(), considered.end(), [](const Considered& a, const Considered& b) {
    return a.impossible_probability < b.impossible_probability;
  });
  evaluation.best_exact = best_threshold(considered, without_answer, [](const Score& gain) { return gain.exact; });
  evaluation.best_f1 = best_threshold(considered, without_answer, [](const Score& gain) { return gain.f1; });
}

}  // namespace

Score score_v1(std::string_view prediction, const std::vector<GoldAnswer>& answers) {
  const AnswerWords words = normalized_words(prediction);
  Score best;
  for (const GoldAnswer& answer : answers) {
    const AnswerWords gold = normalized_words(answer.text);
    best = best_of(best, {gold == words ? 1.0 : 0.0, f1_of(words, gold)});
  }
  return best;
}

Score score_v2(std::string_view prediction, const std::vector<GoldAnswer>& answers) {
  const AnswerWords words = normalized_words(prediction);
  const double if_impossible = words.empty() ? 1 : 0;
  std::optional<Score> best;
  for (const GoldAnswer& answer : answers) {
    const AnswerWords gold = normalized_words(answer.text);
    if (gold.empty()) continue;
    best = best_of(best.value_or(Score{}), {gold == words ? 1.0 : 0.0, f1_of(words, gold)});
  }
  return best.value_or(Score{if_impossible, if_impossible});
}

EvaluationV1 evaluate_v1(const std::vector<Question>& questions, const std::vector<PredictedText>& predictions) {
  const NumberOfId numbers = numbers_of(predictions);
  EvaluationV1 evaluation;
  for (const Question& question : questions) {
    const auto found = numbers.find(question.id);
    if (found == numbers.end()) ++evaluation.missing;
    evaluation.of_question.push_back(
        found == numbers.end() ? Score{} : score_v1(predictions[found->second].text, question.answers));
  }
  const PartOfEvaluation mean = mean_of(questions, evaluation.of_question, std::nullopt);
  evaluation.exact_match = mean.exact;
  evaluation.f1 = mean.f1;
  return evaluation;
}

EvaluationV2 evaluate_v2(const std::vector<Question>& questions, const std::vector<PredictedText>& predictions,
                         double threshold) {
  const NumberOfId numbers = numbers_of(predictions);
  EvaluationV2 evaluation;
  std::vector<Score> raw;
  for (const Question& question : questions) {
    const auto found = numbers.find(question.id);
    if (found == numbers.end()) {
      throw std::runtime_error("expected a prediction for each question, found none for \"" + question.id +
                               "\"; where there is no answer predict \"\"");
    }
    const PredictedText& prediction = predictions[found->second];
    raw.push_back(score_v2(prediction.text, question.answers));
    const double if_impossible = question.answers.empty() ? 1 : 0;
    evaluation.of_question.push_back(prediction.impossible_probability > threshold ? Score{if_impossible, if_impossible}
                                                                                   : raw.back());
  }
  evaluation.all = mean_of(questions, evaluation.of_question, std::nullopt);
  if (const auto part = mean_of(questions, evaluation.of_question, true); part.total > 0) evaluation.has_answer = part;
  if (const auto part = mean_of(questions, evaluation.of_question, false); part.total > 0) evaluation.no_answer = part;
  find_best_thresholds(questions, raw, predictions, evaluation);
  return evaluation;
}

}  // namespace bert
