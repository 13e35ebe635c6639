// Answers: what a model's logits say, as text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "squad/records.h"
#include "squad/windows.h"
#include "text/tokenizer.h"

namespace bert {

struct AnswerOptions {
  std::size_t max_answers = 20;  // kept of a question, and the places considered of each window
  std::size_t max_answer_pieces = 30;
  bool may_be_impossible = false;   // v2.0: no answer, "", is one of the answers
  double impossible_threshold = 0;  // v2.0: "" is predicted where its score is better by more
};

struct RatedAnswer {
  std::string text;
  double begin_logit = 0, end_logit = 0;
  double probability = 0;  // softmax of the sums of logits over the answers that are kept
};

struct Prediction {
  std::string id;  // of the question
  std::string text;
  std::vector<RatedAnswer> answers;  // best first, texts differ; never empty
  // v2.0: score of "" less that of the best text; above the threshold "" is predicted. 0 otherwise.
  double impossible_margin = 0;
};

// A window and the model's float32 logits for its places; they may go on for padding, whose places take part in the
// choice of the best as in run_squad.py, and are then left out.
struct WindowLogits {
  const Window* window = nullptr;
  std::span<const float> begin, end;
};

// write_predictions() of run_squad.py (Devlin et al. 2018): of each window the best beginnings with the best ends, both
// in the context, the beginning where it has max context, not longer than is allowed; sorted by the sum of logits,
// written as text, of equal texts the first. Ties go to the smaller place. `windows` are all of the question, in their
// order. Throws std::runtime_error that names the question when there is no window, logits are fewer than places, or
// one is NaN or infinite.
Prediction answer(const Question& question, const Tokenizer& tokenizer, std::span<const WindowLogits> windows,
                  const AnswerOptions& options);

// predictions.json, as evaluation scripts read it: {id: text}; and what run_squad.py calls nbest_predictions.json:
// {id: [{text, probability, start_logit, end_logit}]}; and null_odds.json of v2.0: {id: margin}. In the order given.
// Each is written beside its place and then renamed. Throws std::runtime_error.
void write_predictions(const std::filesystem::path& file, const std::vector<Prediction>& predictions);
void write_rated_answers(const std::filesystem::path& file, const std::vector<Prediction>& predictions);
void write_impossible_margins(const std::filesystem::path& file, const std::vector<Prediction>& predictions);

}  // namespace bert
