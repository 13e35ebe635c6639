#include "text/vocabulary.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "text/tokenizer_file.h"

namespace bert {
namespace {

std::vector<std::string> with_special(const std::vector<std::string>& pieces) {
  std::vector<std::string> all(std::begin(kSpecialPieces), std::end(kSpecialPieces));
  all.insert(all.end(), pieces.begin(), pieces.end());
  return all;
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
      std::filesystem::path(testing::TempDir()) / ("bert-vocabulary-" + std::to_string(getpid()));
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

TEST(VocabularyTest, RefusesALineWithoutAPiece) {
  EXPECT_NE(error_of([] {
              Vocabulary(with_special({"a", "", "b"}), "vocab.txt");
            }).find("vocab.txt: expected text in UTF-8 as piece 6 (counted from 0), found nothing"),
            std::string::npos);
  EXPECT_NE(error_of([] { Vocabulary(with_special({"\xff"}), "vocab.txt"); }).find("found other bytes"),
            std::string::npos);
}

class TokenizerFileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / ("bert-tokenizer-" + std::to_string(getpid()) + ".json");
};

std::string tokenizer_json(const std::string& normalizer, const std::string& vocabulary) {
  return R"({"normalizer": )" + normalizer + R"(, "pre_tokenizer": {"type": "BertPreTokenizer"}, "added_tokens": [],)" +
         R"("model": {"type": "WordPiece", "max_input_chars_per_word": 50, "vocab": )" + vocabulary + "}}";
}
constexpr const char* kPieces = R"({"[UNK]": 1, "[PAD]": 0, "[SEP]": 3, "[CLS]": 2, "[MASK]": 4, "a": 5})";
constexpr const char* kNormalizer =
    R"({"type": "BertNormalizer", "lowercase": false, "strip_accents": true, "handle_chinese_chars": false})";

TEST_F(TokenizerFileTest, ReadsVocabularyAndOptions) {
  write(tokenizer_json(kNormalizer, kPieces));
  EXPECT_EQ(Vocabulary::load(file_).find("a"), 5);
  const TokenizerFile file = read_tokenizer_file(file_);
  EXPECT_EQ(file.max_word_characters, 50u);
  EXPECT_FALSE(file.folding.lower_case);
  EXPECT_EQ(file.folding.strip_accents, true);
  EXPECT_FALSE(file.folding.split_chinese);
}

TEST_F(TokenizerFileTest, SaysWhatIsWrong) {
  const auto message_for = [&](const std::string& text) {
    write(text);
    return error_of([&] { Vocabulary::load(file_); });
  };
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "is no tokenizer.json"},
           {"{}", "is no tokenizer.json"},
           {"[1]", "is no tokenizer.json"},
           {tokenizer_json(R"({"type": "NFC"})", kPieces), "BertNormalizer, found NFC"},
           {tokenizer_json(kNormalizer, R"({"a": 1})"), "expected each number below 1 once"},
           {tokenizer_json(kNormalizer, R"({"a": -1})"), "expected each number below 1 once"},
           {tokenizer_json(kNormalizer, R"({"a": 0, "b": 0})"), "expected each number below 2 once"},
           {tokenizer_json(kNormalizer, R"({"a": 0})"), "has no piece [PAD]"},
           {tokenizer_json(kNormalizer, R"({"a": "x"})"), "is no tokenizer.json"}}) {
    const std::string message = message_for(text);
    EXPECT_NE(message.find(expected), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find(file_.filename().string()), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace bert
