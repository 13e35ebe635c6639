#include "react/match/case_folding.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace trainwarden::match {
namespace {

struct FoldedRange {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t stride;
  std::int32_t distance;
};

constexpr FoldedRange kFoldedRanges[] = {
#include "react/match/case_folding_table.inc"
};

std::uint32_t folded_point(std::uint32_t point) {
  const auto* const range = std::lower_bound(std::begin(kFoldedRanges), std::end(kFoldedRanges), point,
                                             [](const FoldedRange& r, std::uint32_t p) { return r.last < p; });
  if (range == std::end(kFoldedRanges) || point < range->first) return point;
  if ((point - range->first) % range->stride != 0) return point;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(point) + range->distance);
}

// Takes the character at the front of `text`, which is not ASCII.
std::uint32_t take_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t point = first & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  text.remove_prefix(size);
  return point;
}

void append_point(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text.push_back(static_cast<char>(point));
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const std::uint32_t lead = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
  text.push_back(static_cast<char>(lead | point >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) text.push_back(static_cast<char>(0x80 | (point >> (6 * i) & 0x3f)));
}

}  // namespace

void fold_case(std::string_view text, std::string& folded) {
  folded.clear();
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) < 0x80) {
      folded.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
      text.remove_prefix(1);
    } else {
      append_point(folded, folded_point(take_point(text)));
    }
  }
}

}  // namespace trainwarden::match
