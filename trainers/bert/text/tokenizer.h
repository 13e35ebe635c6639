// Tokenizer: a text into the pieces that a BERT model reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "text/folding.h"
#include "text/piece_table.h"
#include "text/tokenizer_file.h"
#include "text/vocabulary.h"
#include "text/word_reader.h"

namespace bert {

struct TokenizerOptions {
  FoldingOptions folding;
  std::size_t max_word_characters = kMaxWordCharacters;  // a longer word is [UNK]
};

// A piece, and the bytes of the original text that it comes from. A character that becomes several pieces is in the
// range of each; one that is left out is in none, unless it lies within. Never empty.
struct Piece {
  std::int32_t id = 0;
  std::uint32_t begin = 0, end = 0;
  bool operator==(const Piece&) const = default;
};

// WordPiece over BERT's words: the longest piece that a word begins with, then the longest that what is left begins
// with, and so on; a word that cannot be written so is [UNK]. Gives the ids of Hugging Face's `tokenizers`
// (BertNormalizer, BertPreTokenizer, WordPiece), but knows no special piece in a text: "[SEP]" is a bracket, a word and
// a bracket. Const functions are safe for any number of threads.
class Tokenizer {
 public:
  Tokenizer(Vocabulary vocabulary, TokenizerOptions options);
  // tokenizer.json, with what it says of options; or vocab.txt, with those given. A folder: the one of them that it
  // has, tokenizer.json first. Throws std::runtime_error.
  static Tokenizer load(const std::filesystem::path& path, const TokenizerOptions& options);

  std::vector<std::int32_t> ids(std::string_view utf8) const;
  void append_ids(std::string_view utf8, std::vector<std::int32_t>& ids) const;
  // Throws std::runtime_error for a text of 4 GiB or more.
  std::vector<Piece> pieces(std::string_view utf8) const;
  std::vector<std::string> words(std::string_view utf8) const { return basic_words(utf8, folding_); }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const Folding& folding() const { return folding_; }
  const TokenizerOptions& options() const { return options_; }

 private:
  template <class Take>
  bool split(const WordReader& word, const Take& take) const;

  Vocabulary vocabulary_;
  TokenizerOptions options_;
  Folding folding_;
  PieceTable beginnings_, continuations_;
};

}  // namespace bert
