#include "squad/answers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <unordered_set>

#include "squad/final_text.h"

namespace bert {
namespace {

struct Candidate {
  const Window* window = nullptr;  // null: no answer
  std::size_t begin = 0, end = 0;
  double begin_logit = 0, end_logit = 0;
  double score() const { return begin_logit + end_logit; }
};

std::vector<std::size_t> best_places(std::span<const float> logits, std::size_t count) {
  std::vector<std::size_t> places(logits.size());
  std::iota(places.begin(), places.end(), 0);
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(count, places.size()));
  std::partial_sort(places.begin(), end, places.end(), [&](std::size_t a, std::size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  places.erase(end, places.end());
  return places;
}

class Answerer {
 public:
  Answerer(const Question& question, const Tokenizer& tokenizer, const AnswerOptions& options)
      : question_(question), tokenizer_(tokenizer), options_(options), words_(words_of_context(question.context)) {}

  Prediction answer(std::span<const WindowLogits> windows) {
    if (windows.empty()) fail("expected its windows, found none");
    for (const WindowLogits& logits : windows) {
      check(logits);
      add_candidates(logits);
    }
    if (options_.may_be_impossible) candidates_.push_back(impossible_);
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score() > b.score(); });
    Prediction prediction;
    prediction.id = question_.id;
    prediction.answers = rated();
    choose(prediction);
    return prediction;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("question \"" + question_.id + "\": " + what);
  }

  void check(const WindowLogits& logits) const {
    const std::size_t places = logits.window->ids.size();
    if (logits.begin.size() < places || logits.end.size() != logits.begin.size()) {
      fail("expected logits for " + std::to_string(places) + " places or more, as many for ends, found " +
           std::to_string(logits.begin.size()) + " and " + std::to_string(logits.end.size()));
    }
    const auto is_finite = [](float logit) { return std::isfinite(logit); };
    if (!std::all_of(logits.begin.begin(), logits.begin.end(), is_finite) ||
        !std::all_of(logits.end.begin(), logits.end.end(), is_finite)) {
      fail("expected finite logits, found NaN or infinity: the model's weights or its inputs are broken");
    }
  }

  void add_candidates(const WindowLogits& logits) {
    const Window& window = *logits.window;
    if (const Candidate none{nullptr, 0, 0, logits.begin[0], logits.end[0]}; impossible_score_ > none.score()) {
      impossible_ = none;
      impossible_score_ = none.score();
    }
    const std::vector<std::size_t> ends = best_places(logits.end, options_.max_answers);
    for (const std::size_t begin : best_places(logits.begin, options_.max_answers)) {
      if (!window.has_context_at(begin) || !window.context_at(begin).is_max_context) continue;
      for (const std::size_t end : ends) {
        if (!window.has_context_at(end) || end < begin || end - begin + 1 > options_.max_answer_pieces) continue;
        candidates_.push_back({&window, begin, end, logits.begin[begin], logits.end[end]});
      }
    }
  }

  std::string text_of(const Candidate& candidate) const {
    if (candidate.window == nullptr) return "";
    const Window& window = *candidate.window;
    std::string folded;
    for (std::size_t place = candidate.begin; place <= candidate.end; ++place) {
      std::string_view piece = tokenizer_.vocabulary().piece(window.ids[place]);
      if (piece.starts_with(kContinues)) {
        piece.remove_prefix(kContinues.size());
      } else if (!folded.empty()) {
        folded += ' ';
      }
      folded += piece;
    }
    const std::string original = words_.joined(question_.context, window.context_at(candidate.begin).word,
                                               window.context_at(candidate.end).word);
    return final_text(folded, original, tokenizer_.folding());
  }

  std::vector<RatedAnswer> rated() const {
    std::vector<RatedAnswer> answers;
    std::unordered_set<std::string> seen;
    for (const Candidate& candidate : candidates_) {
      if (answers.size() >= options_.max_answers) break;
      std::string text = text_of(candidate);
      if (!seen.insert(text).second) continue;
      answers.push_back({std::move(text), candidate.begin_logit, candidate.end_logit, 0});
    }
    if (options_.may_be_impossible && seen.insert("").second) {
      answers.push_back({"", impossible_.begin_logit, impossible_.end_logit, 0});
    }
    if (answers.empty()) answers.push_back({"empty", 0, 0, 0});  // as run_squad.py, for who compares files
    set_probabilities(answers);
    return answers;
  }

  static void set_probabilities(std::vector<RatedAnswer>& answers) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const RatedAnswer& answer : answers) max = std::max(max, answer.begin_logit + answer.end_logit);
    for (RatedAnswer& answer : answers) {
      answer.probability = std::exp(answer.begin_logit + answer.end_logit - max);
      sum += answer.probability;
    }
    for (RatedAnswer& answer : answers) answer.probability /= sum;
  }

  void choose(Prediction& prediction) const {
    if (!options_.may_be_impossible) {
      prediction.text = prediction.answers[0].text;
      return;
    }
    const auto best = std::find_if(prediction.answers.begin(), prediction.answers.end(),
                                   [](const RatedAnswer& answer) { return !answer.text.empty(); });
    if (best == prediction.answers.end()) {
      prediction.impossible_margin = std::numeric_limits<double>::max();
      return;
    }
    prediction.impossible_margin = impossible_score_ - best->begin_logit - best->end_logit;
    if (prediction.impossible_margin <= options_.impossible_threshold) prediction.text = best->text;
  }

  const Question& question_;
  const Tokenizer& tokenizer_;
  const AnswerOptions& options_;
  const ContextWords words_;
  std::vector<Candidate> candidates_;
  Candidate impossible_;  // of the window that has the lowest score of it
  double impossible_score_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Prediction answer(const Question& question, const Tokenizer& tokenizer, std::span<const WindowLogits> windows,
                  const AnswerOptions& options) {
  return Answerer(question, tokenizer, options).answer(windows);
}

}  // namespace bert
