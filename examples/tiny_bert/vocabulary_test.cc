#include "vocabulary.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "vocabulary_learning.h"
#include "wordpiece.h"

namespace tiny_bert {
namespace {

std::vector<std::string> with_special(const std::vector<std::string>& pieces) {
  std::vector<std::string> all(std::begin(kSpecialPieces), std::end(kSpecialPieces));
  all.insert(all.end(), pieces.begin(), pieces.end());
  return all;
}

std::vector<std::string> pieces_of(const Vocabulary& vocabulary) {
  std::vector<std::string> pieces;
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    pieces.push_back(vocabulary.piece(static_cast<std::int64_t>(id)));
  }
  return pieces;
}

std::string text_of(const Vocabulary& vocabulary, std::string_view text) {
  std::string joined;
  for (const std::int64_t id : wordpieces(vocabulary, text)) joined += vocabulary.piece(id) + " ";
  return joined;
}

// What the exception says; empty when there is none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(VocabularyTest, ReadsAFileWithAPieceOnEachLine) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("tiny-bert-vocabulary-" + std::to_string(getpid()));
  std::ofstream(file) << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\r\nword\n##s\n";
  const Vocabulary vocabulary = Vocabulary::load(file);
  std::filesystem::remove(file);
  EXPECT_EQ(vocabulary.size(), 7u);
  EXPECT_EQ(vocabulary.mask(), 4);
  EXPECT_EQ(vocabulary.find("##s"), 6);
  EXPECT_EQ(vocabulary.find("s"), std::nullopt);
  EXPECT_TRUE(vocabulary.is_special(0));
  EXPECT_FALSE(vocabulary.is_special(5));
}

TEST(VocabularyTest, SaysWhatIsWrong) {
  EXPECT_NE(error_of([] { Vocabulary::load("/nowhere/vocab.txt"); }).find("/nowhere/vocab.txt"), std::string::npos);
  EXPECT_NE(error_of([] {
              Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, "vocab.txt");
            }).find("vocab.txt has no piece [MASK]"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              Vocabulary(with_special({"a", "a"}), "vocab.txt");
            }).find("\"a\" comes twice"),
            std::string::npos);
}

TEST(VocabularyTest, KeepsWhatIsFrequentAndEachLetter) {
  const Vocabulary whole(
      with_special({"rare", "often", "##er", "never", "o", "##f", "##t", "##e", "##n", "##r", "r", "##a", "x"}),
      "the test");
  const Vocabulary kept = most_frequent(whole, {"often rare often Often"}, 14);
  EXPECT_TRUE(kept.find("often"));
  EXPECT_FALSE(kept.find("rare"));
  EXPECT_FALSE(kept.find("x"));
  EXPECT_EQ(text_of(kept, "often rare"), "often r ##a ##r ##e ");
  // A vocabulary larger than what occurs has what occurs.
  EXPECT_FALSE(most_frequent(whole, {"often"}, 100).find("never"));
}

TEST(VocabularyLearningTest, JoinsWhatIsOftenSideBySide) {
  const std::vector<std::string> texts = {"hug hug hug hugs hugs pug pun bun"};
  const Vocabulary vocabulary = learn_vocabulary(texts, 17);
  // h p b ##u ##g ##s ##n, then "##ug" (6 times), "hug" (5), ... : at most 17 pieces, five of them special
  EXPECT_TRUE(vocabulary.find("##ug"));
  EXPECT_EQ(text_of(vocabulary, "hug hugs bug"), "hug hugs b ##ug ");
  EXPECT_LE(vocabulary.size(), 17u);
}

TEST(VocabularyLearningTest, EndsWhenNothingComesTwice) {
  const Vocabulary vocabulary = learn_vocabulary({"ab cd"}, 100);
  EXPECT_EQ(vocabulary.size(), std::size(kSpecialPieces) + 4);
  EXPECT_EQ(text_of(vocabulary, "ab ad"), "a ##b a ##d ");
}

TEST(VocabularyLearningTest, LearnsTheSameEachTime) {
  const std::vector<std::string> texts = {"the cat sat on the mat", "that cat is fat"};
  EXPECT_EQ(pieces_of(learn_vocabulary(texts, 40)), pieces_of(learn_vocabulary(texts, 40)));
}

TEST(VocabularyLearningTest, WritesRunsOfOneLetter) {
  const Vocabulary vocabulary = learn_vocabulary({"aaaa aaaa aaaaa"}, 100);
  EXPECT_EQ(text_of(vocabulary, "aaaa").find("[UNK]"), std::string::npos);
  EXPECT_TRUE(vocabulary.find("##aa"));
}

}  // namespace
}  // namespace tiny_bert
