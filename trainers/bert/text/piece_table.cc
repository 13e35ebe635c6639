#include "text/piece_table.h"

#include <algorithm>
#include <bit>

namespace bert {

PieceTable::PieceTable(const std::vector<std::pair<std::string_view, std::int32_t>>& pieces) {
  constexpr std::size_t kSlotsAPiece = 2;
  slots_.resize(std::bit_ceil(std::max<std::size_t>(kSlotsAPiece * pieces.size(), 2)));
  mask_ = slots_.size() - 1;
  for (const auto& [piece, id] : pieces) {
    longest_ = std::max(longest_, piece.size());
    if (piece.size() > kInlineBytes) {
      long_.emplace(piece, id);
      continue;
    }
    std::array<char, kInlineBytes> bytes{};
    std::copy(piece.begin(), piece.end(), bytes.begin());
    const Key key = key_of(bytes.data(), piece.size());
    std::size_t at = place_of(key);
    while (slots_[at].id != kNone) at = (at + 1) & mask_;
    slots_[at] = {key, id};
  }
}

std::int32_t PieceTable::find_long(std::string_view piece) const {
  if (piece.size() > longest_) return kNone;
  const auto found = long_.find(piece);
  return found == long_.end() ? kNone : found->second;
}

}  // namespace bert
