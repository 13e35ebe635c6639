#include "vocabulary.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "characters.h"
#include "wordpiece.h"

namespace tiny_bert {
namespace {

bool is_one_character(std::string_view piece) {
  if (piece.starts_with(kContinues) && piece.size() > kContinues.size()) piece.remove_prefix(kContinues.size());
  return to_utf32(piece).size() == 1;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> pieces, const std::string& source) : pieces_(std::move(pieces)) {
  for (std::size_t id = 0; id < pieces_.size(); ++id) {
    if (!ids_.emplace(pieces_[id], static_cast<std::int64_t>(id)).second) {
      throw std::runtime_error(source + ": the piece \"" + pieces_[id] + "\" comes twice");
    }
  }
  for (const std::string_view name : kSpecialPieces) {
    const auto id = find(name);
    if (!id)
      throw std::runtime_error(source + " has no piece " + std::string(name) + "; it is no vocabulary of BERT's");
    special_.push_back(*id);
  }
  unknown_ = special_[1], begin_ = special_[2], separator_ = special_[3], mask_ = special_[4];
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the vocabulary " + path.string());
  std::vector<std::string> pieces;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) pieces.push_back(line);
  }
  return Vocabulary(std::move(pieces), path.string());
}

std::optional<std::int64_t> Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool Vocabulary::is_special(std::int64_t id) const {
  return std::find(special_.begin(), special_.end(), id) != special_.end();
}

Vocabulary most_frequent(const Vocabulary& vocabulary, const std::vector<std::string>& texts, std::size_t size) {
  std::vector<std::uint64_t> counts(vocabulary.size(), 0);
  for (const std::string& text : texts) {
    for (const std::int64_t id : wordpieces(vocabulary, text)) ++counts[static_cast<std::size_t>(id)];
    // A long piece that is left out is written with these.
    for (const char32_t character : to_utf32(text)) {
      std::u32string folded;
      append_folded(character, folded);
      for (const char32_t letter : folded) {
        std::string piece;
        append_utf8(letter, piece);
        if (const auto id = vocabulary.find(piece)) ++counts[static_cast<std::size_t>(*id)];
        if (const auto id = vocabulary.find(std::string(kContinues) + piece)) ++counts[static_cast<std::size_t>(*id)];
      }
    }
  }
  std::vector<std::size_t> order(vocabulary.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t id) {
    const bool always = vocabulary.is_special(static_cast<std::int64_t>(id));
    const bool is_letter = counts[id] > 0 && is_one_character(vocabulary.piece(static_cast<std::int64_t>(id)));
    return std::pair(always ? 2 : is_letter ? 1 : 0, counts[id]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
  std::erase_if(order, [&](std::size_t id) { return rank(id) == std::pair(0, std::uint64_t{0}); });
  order.resize(std::min(order.size(), std::max(size, std::size(kSpecialPieces))));
  std::sort(order.begin(), order.end());
  std::vector<std::string> pieces;
  for (const std::size_t id : order) pieces.push_back(vocabulary.piece(static_cast<std::int64_t>(id)));
  return Vocabulary(std::move(pieces), "the most frequent pieces");
}

}  // namespace tiny_bert
