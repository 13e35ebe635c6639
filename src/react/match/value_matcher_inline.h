// The lookups of ValueMatcher; included by value_matcher.h.
#pragma once

#include "react/match/case_folding.h"
#include "react/match/value_matcher.h"

namespace trainwarden::match {

template <class Hits, class Met>
void ValueMatcher::match(ValueMemory& memory, Hits&& hits, Met&& met) const {
  const std::size_t exclusions = met_unless_spoilt_.size();
  if (memory.spoilt.size() < exclusions) memory.spoilt.resize(exclusions);
  for (const std::uint32_t number : met_by_any_) met(number);
  hits([&](std::uint32_t clause) {
    for (const std::uint32_t number : met_by_clause_[clause]) met(number);
    for (const std::uint32_t exclusion : spoilt_by_clause_[clause]) memory.spoilt[exclusion] = 1;
  });
  for (std::size_t i = 0; i < exclusions; ++i) {
    if (memory.spoilt[i] != 0) {
      memory.spoilt[i] = 0;
      continue;
    }
    for (const std::uint32_t number : met_unless_spoilt_[i]) met(number);
  }
}

template <class Met>
void ValueMatcher::match_text(std::string_view text, ValueMemory& memory, Met&& met) const {
  const auto hits = [&](auto&& hit) {
    const auto hit_exact = [&](const TextTable& table, std::string_view key) {
      const std::uint32_t clause = table.find(key);
      if (clause != TextTable::kNone) hit(clause);
    };
    hit_exact(texts_, text);
    if (!globs_.empty()) globs_.find(text, memory.globs, hit);
    if (!folded_texts_.empty() || !folded_globs_.empty()) {
      fold_case(text, memory.folded);
      hit_exact(folded_texts_, memory.folded);
      if (!folded_globs_.empty()) folded_globs_.find(memory.folded, memory.globs, hit);
    }
    if (addresses4_.empty() && addresses6_.empty()) return;
    const auto address = parse_address(text);
    if (!address) return;
    const auto& addresses = address->version6 ? addresses6_ : addresses4_;
    if (!addresses.empty()) addresses.find(address->bits, hit);
  };
  match(memory, hits, met);
}

template <class Met>
void ValueMatcher::match_number(double number, ValueMemory& memory, Met&& met) const {
  const auto hits = [&](auto&& hit) {
    if (!numbers_.empty()) numbers_.find(number, hit);
  };
  match(memory, hits, met);
}

template <class Met>
void ValueMatcher::match_word(ClauseKind word, ValueMemory& memory, Met&& met) const {
  const std::uint32_t clause = words_[static_cast<std::size_t>(word)];
  const auto hits = [&](auto&& hit) {
    if (clause != kNone) hit(clause);
  };
  match(memory, hits, met);
}

}  // namespace trainwarden::match
