#include "squad/evaluation.h"

#include <gtest/gtest.h>

#include "squad/normalized_text.h"

namespace bert {
namespace {

using NormalizedWords = std::vector<std::string>;

TEST(NormalizedTextTest, DropsCasePunctuationAndArticles) {
  EXPECT_EQ(normalized_words("The  Cat's an U.S. a-b"), (NormalizedWords{"cats", "us", "ab"}));
  EXPECT_EQ(normalized_words("a an the"), NormalizedWords{});
  // Punctuation goes first: what is left may be an article.
  EXPECT_EQ(normalized_words("t.h.e a.n x"), (NormalizedWords{"x"}));
  EXPECT_EQ(normalized_words("theory a1 a_b"), (NormalizedWords{"theory", "a1", "ab"}));
}

// Each as Python 3.11 has it.
TEST(NormalizedTextTest, SeesUnicodeAsPythonDoes) {
  EXPECT_EQ(normalized_words("a\u2013b \u201Cthe\u201D"), (NormalizedWords{"\u2013b", "\u201C", "\u201D"}));
  EXPECT_EQ(normalized_words("a\u00A0b\u3000c\x1c"
                             "d\u200Be"),
            (NormalizedWords{"b", "c", "d\u200Be"}));
  EXPECT_EQ(normalized_words("\u0130"), (NormalizedWords{"i\u0307"}));
  EXPECT_EQ(normalized_words("\u039F\u0394\u039F\u03A3 \u03A3"),
            (NormalizedWords{"\u03BF\u03B4\u03BF\u03C2", "\u03C3"}));
  EXPECT_EQ(normalized_words("a\u0301b a\u00BD a\u0903"), (NormalizedWords{"\u0301b", "a\u00BD", "\u0903"}));
}

GoldAnswer gold(const std::string& text) {
  return {text, 0};
}

TEST(EvaluationTest, TakesTheBestAnswerForEachScore) {
  const Score score = score_v1("the big cat", {gold("dog"), gold("big black cat"), gold("Cat!")});
  EXPECT_EQ(score.exact, 0);
  EXPECT_DOUBLE_EQ(score.f1, 2 * 1.0 * (2.0 / 3) / (1.0 + 2.0 / 3));
  EXPECT_EQ(score_v1("Cat", {gold("dog"), gold("a cat.")}).exact, 1);
  EXPECT_DOUBLE_EQ(score_v1("x x y", {gold("x z")}).f1, 2 * (1.0 / 3) * 0.5 / (1.0 / 3 + 0.5)) << "x counts once";
  EXPECT_EQ(score_v1("the", {gold("a")}).exact, 1);
  EXPECT_EQ(score_v1("the", {gold("a")}).f1, 0) << "no word in common, since there is none";
}

TEST(EvaluationTest, TakesNoAnswerForOne) {
  EXPECT_EQ(score_v2("", {}).f1, 1);
  EXPECT_EQ(score_v2("x", {}).f1, 0);
  EXPECT_EQ(score_v2("the", {gold("a")}).f1, 1);
  EXPECT_EQ(score_v2("", {gold("the"), gold("x")}).f1, 0);
}

Question with_answers(const std::string& id, const std::vector<GoldAnswer>& answers) {
  Question question;
  question.id = id;
  question.answers = answers;
  question.is_impossible = answers.empty();
  return question;
}

TEST(EvaluationTest, CountsMissingPredictions) {
  const std::vector<Question> questions = {with_answers("1", {gold("x")}), with_answers("2", {gold("y")}),
                                           with_answers("3", {gold("z w")})};
  const EvaluationV1 evaluation = evaluate_v1(questions, {{"3", "z", 0}, {"1", "x", 0}, {"other", "x", 0}});
  EXPECT_EQ(evaluation.missing, 1u);
  EXPECT_EQ(evaluation.exact_match, 100.0 * 1 / 3);
  EXPECT_EQ(evaluation.f1, 100.0 * (1 + 2 * 1.0 * 0.5 / 1.5) / 3);
  EXPECT_EQ(evaluation.of_question.at(1).f1, 0);
  EXPECT_THROW(evaluate_v2(questions, {{"1", "x", 0}}), std::runtime_error);
}

TEST(EvaluationTest, FindsTheThresholdThatScoresBest) {
  const std::vector<Question> questions = {with_answers("1", {gold("x")}), with_answers("2", {}), with_answers("3", {}),
                                           with_answers("4", {gold("y")})};
  const std::vector<PredictedText> predictions = {{"1", "x", 0.1}, {"2", "w", 0.9}, {"3", "", 0.8}, {"4", "y", 0.3}};
  const EvaluationV2 evaluation = evaluate_v2(questions, predictions);
  EXPECT_EQ(evaluation.all.exact, 75);
  EXPECT_EQ(evaluation.has_answer->exact, 100);
  EXPECT_EQ(evaluation.no_answer->exact, 50);
  EXPECT_EQ(evaluation.no_answer->total, 2u);
  EXPECT_EQ(evaluation.best_exact.score, 100);
  EXPECT_EQ(evaluation.best_exact.threshold, 0.3);
  EXPECT_EQ(evaluate_v2(questions, predictions, 0.5).all.exact, 100);
  EXPECT_EQ(evaluate_v2(questions, predictions, 0.2).has_answer->f1, 50);
}

}  // namespace
}  // namespace bert
