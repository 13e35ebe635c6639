#include "store/s3/appended_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainwarden::storage {
namespace {

constexpr std::size_t kDigits = 10;

}  // namespace

std::string piece_name(std::string_view file, std::uint64_t number) {
  return fmt::format("{}{}{:0{}}", file, kPieceMark, number, kDigits);
}

std::optional<PieceName> parse_piece_name(std::string_view name) {
  const std::size_t mark = name.rfind(kPieceMark);
  if (mark == std::string_view::npos || mark == 0) return std::nullopt;
  const std::string_view digits = name.substr(mark + kPieceMark.size());
  if (digits.size() != kDigits) return std::nullopt;
  std::uint64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return PieceName{name.substr(0, mark), number};
}

void add_pieces(std::vector<FilePart>& parts, const std::vector<ListedObject>& pieces) {
  for (const ListedObject& piece : pieces) {
    const auto name = parse_piece_name(piece.key);
    if (!name || name->number != parts.size() || piece.info.bytes > kMaxObjectBytes - bytes_of(parts)) continue;
    parts.push_back({piece.key, bytes_of(parts), piece.info});
  }
}

std::uint64_t bytes_of(const std::vector<FilePart>& parts) {
  return parts.empty() ? 0 : parts.back().offset + parts.back().info.bytes;
}

}  // namespace trainwarden::storage
