// Evaluation: predictions against the answers that people gave.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "squad/records.h"

namespace bert {

struct Score {
  double exact = 0;  // 1 where all words are equal (normalized_words()), else 0
  double f1 = 0;     // 0 to 1, over words as often as they come
};

// The best over the answers of the question, for exact and f1 apart; evaluate-v1.1.py (Rajpurkar et al. 2016).
Score score_v1(std::string_view prediction, const std::vector<GoldAnswer>& answers);
// evaluate-v2.0.py (Rajpurkar et al. 2018): answers of which no word is left do not count; without any, "" is right.
Score score_v2(std::string_view prediction, const std::vector<GoldAnswer>& answers);

// In order: "no answer" thresholds look at those of equal probability one after another.
struct PredictedText {
  std::string id, text;
  double impossible_probability = 0;  // v2.0: of no answer; any rising number, such as Prediction::impossible_margin
};
// predictions.json ({id: text}), and null_odds.json ({id: number}) where one is named. Throws std::runtime_error.
std::vector<PredictedText> read_predictions(const std::filesystem::path& file,
                                            const std::filesystem::path& impossible_probabilities = {});

// Of 100, over all questions, as evaluate-v1.1.py prints them, to the last digit.
struct EvaluationV1 {
  double exact_match = 0, f1 = 0;
  std::size_t missing = 0;         // questions without a prediction: they score 0
  std::vector<Score> of_question;  // by number
};
EvaluationV1 evaluate_v1(const std::vector<Question>& questions, const std::vector<PredictedText>& predictions);

struct PartOfEvaluation {
  double exact = 0, f1 = 0;  // of 100
  std::size_t total = 0;     // questions
};
struct BestThreshold {
  double score = 0;      // of 100
  double threshold = 0;  // "" counts where the probability is above
};
// As evaluate-v2.0.py prints them, to the last digit (its sums as Python before 3.12 adds).
struct EvaluationV2 {
  PartOfEvaluation all;
  std::optional<PartOfEvaluation> has_answer, no_answer;  // where there are such questions
  BestThreshold best_exact, best_f1;
  std::vector<Score> of_question;  // by number, with the threshold
};
// Where a probability is above `threshold`, "" is the prediction. Throws std::runtime_error when a question has no
// prediction: the official script ends there as well.
EvaluationV2 evaluate_v2(const std::vector<Question>& questions, const std::vector<PredictedText>& predictions,
                         double threshold = 1);

}  // namespace bert
