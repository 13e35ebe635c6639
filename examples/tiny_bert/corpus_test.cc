#include "corpus.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tiny_bert {
namespace {

namespace fs = std::filesystem;

// What the exception says; empty when there is none.
template <class Call>
std::string corpus_error(const Call& call) {
  try {
    call();
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "below"); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("tiny-bert-corpus-" + std::to_string(getpid()));
};

constexpr const char* kSquad =
    R"({"data": [{"paragraphs": [{"context": "One.", "qas": []}, {"context": "Two."}]}, {"paragraphs": []}]})";

TEST_F(CorpusTest, ReadsContextsOfSquadAndOtherFilesWhole) {
  EXPECT_EQ(read_texts({write("a.json", kSquad), write("b.txt", "Three.\n")}),
            (std::vector<std::string>{"One.", "Two.", "Three.\n"}));
}

TEST_F(CorpusTest, ReadsWhatLiesBelowAFolder) {
  write("z.md", "last");
  write("below/a.txt", "first");
  write("picture.png", "no text");
  EXPECT_EQ(read_texts({folder_}), (std::vector<std::string>{"first", "last"}));
}

TEST_F(CorpusTest, SaysWhatIsWrong) {
  EXPECT_NE(corpus_error([&] { read_texts({folder_ / "none.txt"}); }).find("none.txt"), std::string::npos);
  for (const char* text :
       {"{", "{}", R"({"data": [{"paragraphs": [{}]}]})", R"({"data": [{"paragraphs": [{"context": 1}]}]})"}) {
    const std::string error = corpus_error([&] { read_texts({write("bad.json", text)}); });
    EXPECT_NE(error.find("is not SQuAD's JSON"), std::string::npos) << text << ": " << error;
  }
}

Vocabulary letters() {
  std::vector<std::string> pieces(std::begin(bert::kSpecialPieces), std::end(bert::kSpecialPieces));
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.emplace_back(1, letter);
  pieces.emplace_back(".");
  return Vocabulary(std::move(pieces), "the test");
}

std::string text_of(const Vocabulary& vocabulary, const Sequence& sequence) {
  std::string text;
  for (const std::int64_t id : sequence.pieces) text += vocabulary.piece(id);
  return text;
}

TEST_F(CorpusTest, FillsEachSequenceOverTheEndsOfTexts) {
  const Vocabulary vocabulary = letters();
  const auto sequences = cut_into_sequences(vocabulary, {"a b c d e f g h", "i j k", "l"}, 8);
  ASSERT_EQ(sequences.size(), 2u);
  EXPECT_EQ(text_of(vocabulary, sequences[0]), "[CLS]ab[SEP]cde[SEP]");
  EXPECT_EQ(text_of(vocabulary, sequences[1]), "[CLS]fg[SEP]hij[SEP]");
  EXPECT_EQ(sequences[0].segments, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST_F(CorpusTest, EndsTheFirstPartWithASentence) {
  const Vocabulary vocabulary = letters();
  const auto sequences = cut_into_sequences(vocabulary, {"a b c d e f . h i j"}, 13);
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(text_of(vocabulary, sequences[0]), "[CLS]abcde[SEP]f.hij[SEP]") << "the middle half ends before the dot";
  const auto nearer = cut_into_sequences(vocabulary, {"a b c . e f g h i j"}, 13);
  EXPECT_EQ(text_of(vocabulary, nearer.at(0)), "[CLS]abc.[SEP]efghij[SEP]");
}

TEST_F(CorpusTest, FindsWholeSentencesThatFillASequence) {
  const Vocabulary vocabulary = letters();
  const auto found = [&](const std::vector<std::string>& texts, std::size_t last_pieces = 1000) {
    std::vector<std::string> shown;
    for (const Sequence& sequence : sequences_of_sentences(vocabulary, texts, 11, last_pieces)) {
      shown.push_back(text_of(vocabulary, sequence));
    }
    return shown;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(found({"a b c . d e f . g h i"}), (Texts{"[CLS]abc.[SEP]def.[SEP]"}));
  EXPECT_EQ(found({"x y z w v . a b c . d e f ."}), (Texts{"[CLS]abc.[SEP]def.[SEP]"})) << "not the first of a text";
  EXPECT_EQ(found({"a b c d e f g ."}), (Texts{})) << "one sentence is not two";
  EXPECT_EQ(found({"a b . c d e f ."}), (Texts{})) << "an abbreviation is no sentence";
  EXPECT_EQ(found({"a b e . g . c f"}), (Texts{})) << "nor are two";
  EXPECT_EQ(found({"a b c . d e f .", "g h i . k l m ."}),
            (Texts{"[CLS]ghi.[SEP]klm.[SEP]", "[CLS]abc.[SEP]def.[SEP]"}));
  EXPECT_EQ(found({"a b c . d e f .", "g h i . k l m ."}, 8), (Texts{"[CLS]ghi.[SEP]klm.[SEP]"}))
      << "of the last 8 pieces";
}

}  // namespace
}  // namespace tiny_bert
