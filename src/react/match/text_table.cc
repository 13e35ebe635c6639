#include "react/match/text_table.h"

#include <cstring>
#include <utility>

namespace trainwarden::match {
namespace {

constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

template <std::size_t kBytes>
std::uint64_t read_word(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, kBytes);
  return word;
}

// At most eight bytes, each of them at least once.
std::uint64_t read_short(const char* at, std::size_t bytes) {
  if (bytes >= 4) return read_word<4>(at) << 32 | read_word<4>(at + bytes - 4);
  if (bytes >= 2) return read_word<2>(at) << 32 | read_word<2>(at + bytes - 2);
  return bytes == 1 ? read_word<1>(at) : 0;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ hash >> 32;
}

// Quick rather than safe against texts that are chosen to collide: those in the table come from patterns, and a lookup
// compares with those only.
std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size() * kMultiplier;
  const char* const at = text.data();
  const std::size_t size = text.size();
  if (size < 8) return static_cast<std::uint32_t>(mixed(hash, read_short(at, size)) >> 16);
  for (std::size_t i = 0; i + 8 < size; i += 8) hash = mixed(hash, read_word<8>(at + i));
  return static_cast<std::uint32_t>(mixed(hash, read_word<8>(at + size - 8)) >> 16);
}

}  // namespace

void TextTable::add(std::string_view text, std::uint32_t number) {
  if (2 * (used_ + 1) > entries_.size()) grow();
  place({std::string(text), hash_of(text), number});
  ++used_;
}

std::uint32_t TextTable::find(std::string_view text) const {
  if (entries_.empty()) return kNone;
  const std::uint32_t hash = hash_of(text);
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry& entry = entries_[at];
    if (entry.number == kNone || (entry.hash == hash && entry.text == text)) return entry.number;
  }
}

void TextTable::grow() {
  std::vector<Entry> old = std::move(entries_);
  entries_ = std::vector<Entry>(old.empty() ? 8 : 2 * old.size());
  for (Entry& entry : old) {
    if (entry.number != kNone) place(std::move(entry));
  }
}

void TextTable::place(Entry entry) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = entry.hash & mask;
  while (entries_[at].number != kNone) at = (at + 1) & mask;
  entries_[at] = std::move(entry);
}

}  // namespace trainwarden::match
