#include "squad/answers.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "squad/evaluation.h"
#include "squad/final_text.h"

namespace bert {
namespace {

Tokenizer words_and_marks() {
  std::vector<std::string> pieces(std::begin(kSpecialPieces), std::end(kSpecialPieces));
  for (const char* piece : {"what", "steve", "smith", "##s", "lives", "here", "-", "."}) pieces.emplace_back(piece);
  return Tokenizer(Vocabulary(pieces, "the test"), {});
}

TEST(FinalTextTest, FindsTheWordsAsTheyWereWritten) {
  const Folding folding({});
  EXPECT_EQ(final_text("steve smith", "Steve Smith's", folding), "Steve Smith");
  EXPECT_EQ(final_text("1895", "(1895\u20131943).", folding), "1895");
  EXPECT_EQ(final_text("cafe", "Caf\u00E9!", folding), "Caf\u00E9");
  EXPECT_EQ(final_text("[UNK] x", "Caf\u00E9 x", folding), "Caf\u00E9 x");
  // A letter that becomes two moves what is behind it: all of it then.
  EXPECT_EQ(final_text("b", "\uD55C b c", folding), "\uD55C b c");
}

// A question of two windows, logits all 0 but for those that a test sets.
class AnswerTest : public testing::Test {
 protected:
  AnswerTest() {
    question_.id = "q";
    question_.text = "What";
    question_.context = "Steve Smith-s lives here.";
    windows_ = windows_of(question_, 0, tokenizer_, {.max_length = 100, .stride = 1}, Labels::kNone);
    set_logits();
  }
  void set_logits() {
    begin_.assign(windows_.size(), {});
    end_.assign(windows_.size(), {});
    for (std::size_t w = 0; w < windows_.size(); ++w) {
      begin_[w].assign(windows_[w].ids.size() + 4, 0.0f);
      end_[w] = begin_[w];
    }
  }
  Prediction answer_now(const AnswerOptions& options = {}) const {
    std::vector<WindowLogits> logits;
    for (std::size_t w = 0; w < windows_.size(); ++w) logits.push_back({&windows_[w], begin_[w], end_[w]});
    return answer(question_, tokenizer_, logits, options);
  }
  static constexpr std::size_t kSteve = 3, kSmith = 4, kHyphen = 5, kLives = 7, kDot = 9;

  const Tokenizer tokenizer_ = words_and_marks();
  Question question_;
  std::vector<Window> windows_;
  std::vector<std::vector<float>> begin_, end_;
};

TEST_F(AnswerTest, TakesTheBestSpan) {
  begin_[0][kSteve] = 5, end_[0][kSmith] = 4, end_[0][kSteve] = 3;
  const Prediction prediction = answer_now();
  EXPECT_EQ(prediction.text, "Steve Smith");
  EXPECT_EQ(prediction.id, "q");
  EXPECT_EQ(prediction.answers.at(0).begin_logit, 5);
  EXPECT_EQ(prediction.answers[0].end_logit, 4);
  EXPECT_EQ(prediction.answers.at(1).text, "Steve");
  double sum = 0;
  for (const RatedAnswer& rated : prediction.answers) sum += rated.probability;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(prediction.answers[0].probability / prediction.answers[1].probability, std::exp(1.0), 1e-9);
  EXPECT_LE(prediction.answers.size(), 20u);
}

TEST_F(AnswerTest, LeavesOutSpansThatAreNone) {
  begin_[0][0] = 50, end_[0][0] = 50;           // [CLS]
  begin_[0][1] = 40, end_[0][1] = 40;           // the question
  begin_[0][12] = 40, end_[0][12] = 40;         // padding
  begin_[0][kLives] = 5, end_[0][kSteve] = 30;  // ends before it begins
  begin_[0][kSteve] = -100;
  end_[0][kDot] = 2;
  EXPECT_EQ(answer_now().text, "lives here.");
  EXPECT_NE(answer_now({.max_answers = 20, .max_answer_pieces = 2}).text, "lives here.");
}

TEST_F(AnswerTest, ReadsBeginningsOnlyWithMaxContext) {
  begin_[0][kSteve] = 5, end_[0][kSmith] = 5;
  windows_[0].context[0].is_max_context = false;
  EXPECT_NE(answer_now().text, "Steve Smith");
}

TEST_F(AnswerTest, SaysATextOnce) {
  const Prediction prediction = answer_now();
  for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(prediction.answers[i].text, prediction.answers[j].text);
  }
}

TEST_F(AnswerTest, SaysThatThereIsNoAnswer) {
  begin_[0][0] = 3, end_[0][0] = 3, begin_[0][kSteve] = 2, end_[0][kSmith] = 2;
  const Prediction none = answer_now({.max_answers = 20, .max_answer_pieces = 30, .may_be_impossible = true});
  EXPECT_EQ(none.text, "");
  EXPECT_EQ(none.answers.at(0).text, "");
  EXPECT_EQ(none.impossible_margin, 2);
  const Prediction some =
      answer_now({.max_answers = 20, .max_answer_pieces = 30, .may_be_impossible = true, .impossible_threshold = 2});
  EXPECT_EQ(some.text, "Steve Smith");
  EXPECT_EQ(answer_now().text, "Steve Smith") << "v1.1 has an answer always";
}

TEST_F(AnswerTest, SaysWhatIsWrongWithLogits) {
  const auto message = [&] {
    try {
      answer_now();
      return std::string();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  begin_[0][7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(message().find("question \"q\": expected finite logits"), std::string::npos);
  set_logits();
  begin_[0].resize(3);
  EXPECT_NE(message().find("expected logits for 11 places"), std::string::npos) << message();
  windows_.clear();
  EXPECT_NE(message().find("found none"), std::string::npos);
}

TEST(PredictionFilesTest, ReadsWhatItWrites) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("bert-predictions-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::vector<Prediction> predictions = {{"z", "Caf\u00E9 \"x\"", {{"Caf\u00E9", 1.5, 2, 0.75}}, 0.5},
                                               {"a", "", {}, -2}};
  write_predictions(folder / "predictions.json", predictions);
  write_impossible_margins(folder / "odds.json", predictions);
  write_rated_answers(folder / "nbest.json", predictions);
  const auto read = read_predictions(folder / "predictions.json", folder / "odds.json");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].id, "z") << "in the order of the file";
  EXPECT_EQ(read[0].text, predictions[0].text);
  EXPECT_EQ(read[0].impossible_probability, 0.5);
  EXPECT_EQ(read[1].impossible_probability, -2);
  std::ifstream file(folder / "nbest.json");
  const auto best = nlohmann::json::parse(file);
  EXPECT_EQ(best["z"][0]["start_logit"], 1.5);
  EXPECT_EQ(best["z"][0]["probability"], 0.75);
  for (const char* text : {"", "[]", "3", R"({"a": 1})", R"({"a": {"b": "c"}})"}) {
    std::ofstream(folder / "bad.json") << text;
    EXPECT_THROW(read_predictions(folder / "bad.json"), std::runtime_error) << text;
  }
  EXPECT_THROW(write_predictions(folder / "none" / "p.json", predictions), std::runtime_error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bert
