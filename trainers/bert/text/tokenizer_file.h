// What is read of tokenizer.json, the file of Hugging Face's library `tokenizers`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "text/folding.h"

namespace bert {

// Of a vocabulary that a user brings.
inline constexpr std::size_t kMaxPieces = 1'000'000, kMaxPieceBytes = 1000, kMaxVocabularyFileBytes = 256u << 20;
inline constexpr std::size_t kMaxWordCharacters =
    100;  // as the library's where a file does not say; Google's own has 200

struct TokenizerFile {
  std::vector<std::string> pieces;  // model.vocab, by number
  FoldingOptions folding;           // normalizer
  std::size_t max_word_characters = kMaxWordCharacters;
};

// Throws std::runtime_error where it is not a BERT tokenizer: other models, normalizers and pre-tokenizers, a number
// that is missing or there twice. Pieces of `added_tokens` are special to the library's texts, not to ours.
TokenizerFile read_tokenizer_file(const std::filesystem::path& file);

}  // namespace bert
