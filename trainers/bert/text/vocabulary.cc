#include "text/vocabulary.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "files/reading.h"
#include "text/characters.h"
#include "text/tokenizer_file.h"

namespace bert {
namespace {

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::istringstream text(read_text(path, kMaxVocabularyFileBytes));
  std::vector<std::string> pieces;
  for (std::string line; std::getline(text, line);) {
    if (line.size() > kMaxPieceBytes || pieces.size() >= kMaxPieces) {
      throw std::runtime_error(path.string() + ", line " + std::to_string(pieces.size() + 1) + ": expected at most " +
                               std::to_string(kMaxPieces) + " lines of at most " + std::to_string(kMaxPieceBytes) +
                               " bytes; it is no vocabulary of BERT's");
    }
    if (line.ends_with('\r')) line.pop_back();
    pieces.push_back(line);
  }
  while (!pieces.empty() && pieces.back().empty()) pieces.pop_back();
  return pieces;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> pieces, const std::string& source) : pieces_(std::move(pieces)) {
  for (std::size_t id = 0; id < pieces_.size(); ++id) {
    if (pieces_[id].empty() || !is_utf8(pieces_[id])) {
      throw std::runtime_error(source + ": expected text in UTF-8 as piece " + std::to_string(id) +
                               " (counted from 0), " + (pieces_[id].empty() ? "found nothing" : "found other bytes"));
    }
    if (!ids_.emplace(pieces_[id], static_cast<std::int32_t>(id)).second) {
      throw std::runtime_error(source + ": the piece \"" + pieces_[id] + "\" comes twice");
    }
  }
  for (const std::string_view name : kSpecialPieces) {
    const auto id = find(name);
    if (!id)
      throw std::runtime_error(source + " has no piece " + std::string(name) + "; it is no vocabulary of BERT's");
    special_.push_back(*id);
  }
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  if (path.extension() == ".json") return Vocabulary(read_tokenizer_file(path).pieces, path.string());
  return Vocabulary(read_lines(path), path.string());
}

std::optional<std::int32_t> Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool Vocabulary::is_special(std::int64_t id) const {
  return std::find(special_.begin(), special_.end(), id) != special_.end();
}

}  // namespace bert
