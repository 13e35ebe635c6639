// Vocabularies that are learnt from texts or cut down to them.
#include "vocabulary_learning.h"

#include <gtest/gtest.h>

#include "text/tokenizer.h"

namespace tiny_bert {
namespace {

using bert::kSpecialPieces;
using bert::Tokenizer;

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
  for (const std::int32_t id : Tokenizer(vocabulary, {}).ids(text)) joined += vocabulary.piece(id) + " ";
  return joined;
}

TEST(VocabularyLearningTest, KeepsWhatIsFrequentAndEachLetter) {
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
