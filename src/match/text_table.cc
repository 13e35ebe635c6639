#include "match/text_table.h"

#include <cstring>
#include <utility>

namespace trainwarden::match {
namespace {

constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

std::uint64_t read_word(const char* at, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

// Quick rather than safe against texts that are chosen to collide: those in the table come from patterns, and a lookup
// compares with those only.
std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size() * kMultiplier;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    hash = (hash ^ read_word(at, 8)) * kMultiplier;
    hash ^= hash >> 32;
  }
  if (left > 0) hash = (hash ^ read_word(at, left)) * kMultiplier;
  return static_cast<std::uint32_t>(hash >> 32);
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
