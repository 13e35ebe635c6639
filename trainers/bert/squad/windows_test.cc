#include "squad/windows.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

// Letters are pieces of their own: "a" and "##a".
Tokenizer letters() {
  std::vector<std::string> pieces(std::begin(kSpecialPieces), std::end(kSpecialPieces));
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    pieces.emplace_back(1, letter);
    pieces.push_back(std::string(kContinues) + letter);
  }
  for (const char* mark : {"(", ")", "-", "."}) pieces.emplace_back(mark);
  return Tokenizer(Vocabulary(pieces, "the test"), {});
}

std::string text_of(const Tokenizer& tokenizer, const Window& window) {
  std::string text;
  for (const std::int32_t id : window.ids) text += tokenizer.vocabulary().piece(id);
  return text;
}

Question asked(const std::string& text, const std::string& context) {
  Question question;
  question.id = "q";
  question.text = text;
  question.context = context;
  return question;
}

Question answered(const std::string& context, const std::string& answer, std::size_t begin) {
  Question question = asked("q", context);
  question.answers.push_back({answer, begin});
  return question;
}

std::vector<std::string> texts_of(const Question& question, const WindowOptions& options) {
  const Tokenizer tokenizer = letters();
  std::vector<std::string> texts;
  for (const Window& window : windows_of(question, 0, tokenizer, options, Labels::kNone)) {
    texts.push_back(text_of(tokenizer, window));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(WindowsTest, PutsTheQuestionBeforeTheContext) {
  const Tokenizer tokenizer = letters();
  const auto windows = windows_of(asked("w", "ab c"), 5, tokenizer, {}, Labels::kNone);
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(text_of(tokenizer, windows[0]), "[CLS]w[SEP]a##bc[SEP]");
  EXPECT_EQ(windows[0].question, 5u);
  EXPECT_EQ(windows[0].context_begin, 3u);
  EXPECT_EQ(windows[0].context.size(), 3u);
  EXPECT_EQ(windows[0].segment(2), 0);
  EXPECT_EQ(windows[0].segment(3), 1);
  EXPECT_EQ(windows[0].segment(6), 1);
  EXPECT_FALSE(windows[0].has_context_at(2));
  EXPECT_TRUE(windows[0].has_context_at(5));
  EXPECT_FALSE(windows[0].has_context_at(6));
  EXPECT_EQ(windows[0].context_at(4).word, 0u);
  EXPECT_EQ(windows[0].context_at(5).word, 1u);
  EXPECT_EQ(windows[0].context_at(4).begin, 1u);
  EXPECT_EQ(windows[0].context_at(5).end, 4u);
}

TEST(WindowsTest, MovesByTheStride) {
  WindowOptions options{.max_length = 8, .stride = 2};
  EXPECT_EQ(texts_of(asked("w", "a b c d e f g"), options),
            (Texts{"[CLS]w[SEP]abcd[SEP]", "[CLS]w[SEP]cdef[SEP]", "[CLS]w[SEP]efg[SEP]"}));
  options.stride = 100;  // never past what the window had
  EXPECT_EQ(texts_of(asked("w", "a b c d e f g"), options), (Texts{"[CLS]w[SEP]abcd[SEP]", "[CLS]w[SEP]efg[SEP]"}));
  EXPECT_EQ(texts_of(asked("w", "a b c d"), options), (Texts{"[CLS]w[SEP]abcd[SEP]"}));
}

TEST(WindowsTest, SharesTheStride) {
  const WindowOptions options{
      .max_length = 8, .stride = 1, .max_question = 64, .stride_means = StrideMeans::kPiecesShared};
  EXPECT_EQ(texts_of(asked("w", "a b c d e f g h"), options),
            (Texts{"[CLS]w[SEP]abcd[SEP]", "[CLS]w[SEP]defg[SEP]", "[CLS]w[SEP]gh[SEP]"}));
}

TEST(WindowsTest, CutsLongQuestions) {
  EXPECT_EQ(texts_of(asked("u v w x", "a"), {.max_length = 8, .stride = 2, .max_question = 2}),
            (Texts{"[CLS]uv[SEP]a[SEP]"}));
}

TEST(WindowsTest, MarksEachPieceInOneWindow) {
  const Tokenizer tokenizer = letters();
  const auto windows =
      windows_of(asked("w", "a b c d e f g"), 0, tokenizer, {.max_length = 8, .stride = 2}, Labels::kNone);
  // abcd: d has nothing behind it, in cdef it has two and one; c: 1 in abcd, 0 in cdef.
  const std::vector<std::vector<bool>> expected = {{1, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 1}};
  ASSERT_EQ(windows.size(), expected.size());
  for (std::size_t w = 0; w < windows.size(); ++w) {
    for (std::size_t i = 0; i < expected[w].size(); ++i) {
      EXPECT_EQ(windows[w].context[i].is_max_context, expected[w][i]) << w << " " << i;
    }
  }
}

std::vector<std::pair<std::size_t, std::size_t>> labels_of(const Question& question, const WindowOptions& options) {
  const Tokenizer tokenizer = letters();
  std::vector<std::pair<std::size_t, std::size_t>> labels;
  for (const Window& window : windows_of(question, 0, tokenizer, options, Labels::kFirstAnswer)) {
    labels.emplace_back(window.begin_label, window.end_label);
  }
  return labels;
}
using LabelPairs = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(WindowsTest, LabelsTheAnswerAndNothingWithoutAllOfIt) {
  EXPECT_EQ(labels_of(answered("a b c d e f g", "d e", 6), {.max_length = 8, .stride = 2}),
            (LabelPairs{{0, 0}, {4, 5}, {0, 0}}));
}
TEST(WindowsTest, NarrowsTheAnswerToItsPieces) {
  EXPECT_EQ(labels_of(answered("x (a-b).", "a", 3), {}), (LabelPairs{{5, 5}}));
  EXPECT_EQ(labels_of(answered("x (a-b).", "a-b", 3), {}), (LabelPairs{{5, 7}}));
  // Letters within a word are other pieces: the whole word.
  EXPECT_EQ(labels_of(answered("x abc", "b", 3), {}), (LabelPairs{{4, 6}}));
}
TEST(WindowsTest, CountsPlacesInCodePoints) {
  EXPECT_EQ(labels_of(answered("\u00E4\u00F6 \u00FC b", "b", 5), {}), (LabelPairs{{6, 6}}));
}
TEST(WindowsTest, LabelsNothingWhereThereIsNoAnswer) {
  Question impossible = asked("q", "a b");
  impossible.is_impossible = true;
  EXPECT_EQ(labels_of(impossible, {}), (LabelPairs{{0, 0}}));
  EXPECT_THROW(labels_of(asked("q", "a b"), {}), std::runtime_error);
}

TEST(WindowsTest, SplitsWordsWhereBertDoes) {
  const std::string context = " a\u00A0b\u202Fc\td\r\ne ";
  const ContextWords words = words_of_context(context);
  ASSERT_EQ(words.ranges.size(), 4u);
  EXPECT_EQ(words.joined(context, 0, 3), "a\u00A0b c d e");
}

TEST(WindowsTest, SeesWhetherTheAnswerIsThere) {
  EXPECT_TRUE(is_answer_in_its_words(answered("x a\nb c", "a b", 2)));
  EXPECT_FALSE(is_answer_in_its_words(answered("x a b c", "c", 2)));
}

TEST(WindowsTest, HasOneWindowForNoContext) {
  EXPECT_EQ(texts_of(asked("w", " \n"), {}), (Texts{"[CLS]w[SEP][SEP]"}));
}

TEST(WindowsTest, SaysWhichQuestionDoesNotFit) {
  const auto message = [](const WindowOptions& options) {
    try {
      texts_of(asked("u v w", "a b"), options);
      return std::string();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(message({.max_length = 6, .stride = 1}).find("question \"q\": its 3 pieces leave no room"),
            std::string::npos);
  EXPECT_EQ(message({.max_length = 7, .stride = 1}), "");
  EXPECT_NE(message({.max_length = 7, .stride = 0}).find("expected a stride above 0"), std::string::npos);
  EXPECT_NE(message({.max_length = 8, .stride = 2, .max_question = 64, .stride_means = StrideMeans::kPiecesShared})
                .find("expected a stride below 2, found 2"),
            std::string::npos);
}

}  // namespace
}  // namespace bert
