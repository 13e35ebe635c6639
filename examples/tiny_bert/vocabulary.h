// Vocabulary: the pieces of words that a model knows, each with its number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tiny_bert {

// "##" before a piece says that it goes on within a word. What is special is written in brackets.
inline constexpr std::string_view kContinues = "##";
inline constexpr std::string_view kSpecialPieces[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

class Vocabulary {
 public:
  // Numbered in this order. Throws std::runtime_error when a special piece is missing or a piece comes twice;
  // `source` says in the message where they come from.
  Vocabulary(std::vector<std::string> pieces, const std::string& source);
  // A file with a piece on each line, as vocab.txt of BERT. Throws std::runtime_error.
  static Vocabulary load(const std::filesystem::path& file);

  std::size_t size() const { return pieces_.size(); }
  const std::string& piece(std::int64_t id) const { return pieces_.at(static_cast<std::size_t>(id)); }
  std::optional<std::int64_t> find(std::string_view piece) const;

  std::int64_t unknown() const { return unknown_; }
  std::int64_t begin() const { return begin_; }          // [CLS]
  std::int64_t separator() const { return separator_; }  // [SEP]
  std::int64_t mask() const { return mask_; }
  bool is_special(std::int64_t id) const;  // one of kSpecialPieces

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> ids_;
  std::vector<std::int64_t> special_;
  std::int64_t unknown_ = 0, begin_ = 0, separator_ = 0, mask_ = 0;
};

// The special pieces, each character of `texts` that the vocabulary has as a piece, and those that are most frequent in
// them: `size` in all, or less when there are not so many. In the order of the vocabulary.
Vocabulary most_frequent(const Vocabulary& vocabulary, const std::vector<std::string>& texts, std::size_t size);

}  // namespace tiny_bert
