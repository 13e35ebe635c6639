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

namespace bert {

// "##" before a piece says that it goes on within a word. What is special is written in brackets.
inline constexpr std::string_view kContinues = "##";
inline constexpr std::string_view kSpecialPieces[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

class Vocabulary {
 public:
  // Numbered in this order. Throws std::runtime_error when a special piece is missing, a piece comes twice, is empty or
  // is no UTF-8; `source` says in the message where they come from.
  Vocabulary(std::vector<std::string> pieces, const std::string& source);
  // A file with a piece on each line, as vocab.txt of BERT; or, where its name ends in .json, tokenizer.json of Hugging
  // Face's library (model.vocab). Throws std::runtime_error.
  static Vocabulary load(const std::filesystem::path& file);

  std::size_t size() const { return pieces_.size(); }
  const std::string& piece(std::int64_t id) const { return pieces_.at(static_cast<std::size_t>(id)); }
  std::optional<std::int32_t> find(std::string_view piece) const;

  std::int32_t padding() const { return special_[0]; }    // [PAD]
  std::int32_t unknown() const { return special_[1]; }    // [UNK]
  std::int32_t begin() const { return special_[2]; }      // [CLS]
  std::int32_t separator() const { return special_[3]; }  // [SEP]
  std::int32_t mask() const { return special_[4]; }       // [MASK]
  bool is_special(std::int64_t id) const;                 // one of kSpecialPieces

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::vector<std::int32_t> special_;
};

}  // namespace bert
