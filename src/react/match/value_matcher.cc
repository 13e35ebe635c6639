#include "react/match/value_matcher.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainwarden::match {
namespace {

void append_word(std::string& text, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) text.push_back(static_cast<char>(word >> (8 * i)));
}

void append_bits(std::string& text, const AddressBits& bits) {
  append_word(text, bits.high);
  append_word(text, bits.low);
}

void append_number(std::string& text, double number) {
  append_word(text, std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));  // -0 is 0
}

}  // namespace

std::string identity_of(const Clause& clause) {
  std::string identity(1, static_cast<char>(clause.kind));
  switch (clause.kind) {
    case ClauseKind::kGlob:
      identity.push_back(clause.glob.fold_case ? 'f' : '-');
      for (const std::string& part : clause.glob.parts) {
        append_word(identity, part.size());
        identity += part;
      }
      break;
    case ClauseKind::kNumber:
      append_number(identity, clause.number.bottom);
      append_number(identity, clause.number.top);
      identity.push_back(clause.number.without_bottom ? '(' : '[');
      identity.push_back(clause.number.without_top ? ')' : ']');
      break;
    case ClauseKind::kAddress:
      identity.push_back(clause.address.version6 ? '6' : '4');
      append_bits(identity, clause.address.first);
      append_bits(identity, clause.address.last);
      break;
    case ClauseKind::kAnythingBut: {
      std::vector<std::string> excluded;
      for (const Clause& one : clause.excluded) excluded.push_back(identity_of(one));
      std::sort(excluded.begin(), excluded.end());
      for (const std::string& one : excluded) {
        append_word(identity, one.size());
        identity += one;
      }
      break;
    }
    default: break;
  }
  return identity;
}

void ValueMatcherBuilder::add(const Condition& condition, std::uint32_t number) {
  for (const Clause& clause : condition.any_of) {
    if (clause.kind == ClauseKind::kAbsent) continue;
    if (clause.kind == ClauseKind::kAny) {
      matcher_.met_by_any_.push_back(number);
    } else if (clause.kind != ClauseKind::kAnythingBut) {
      met_by_clause_[number_of(clause)].push_back(number);
    } else {
      std::vector<std::uint32_t> excluded;
      for (const Clause& one : clause.excluded) excluded.push_back(number_of(one));
      std::sort(excluded.begin(), excluded.end());
      excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
      const auto next = static_cast<std::uint32_t>(exclusions_.size());
      const auto [exclusion, added] = exclusions_.emplace(excluded, next);
      if (added) {
        met_unless_spoilt_.emplace_back();
        for (const std::uint32_t one : excluded) spoilt_by_clause_[one].push_back(next);
      }
      met_unless_spoilt_[exclusion->second].push_back(number);
    }
  }
}

std::uint32_t ValueMatcherBuilder::number_of(const Clause& clause) {
  const auto next = static_cast<std::uint32_t>(clauses_.size());
  const auto [known, added] = clauses_.emplace(identity_of(clause), next);
  if (!added) return known->second;
  met_by_clause_.emplace_back();
  spoilt_by_clause_.emplace_back();
  index(clause, next);
  return next;
}

void ValueMatcherBuilder::index(const Clause& clause, std::uint32_t number) {
  switch (clause.kind) {
    case ClauseKind::kGlob:
      matcher_.reads_texts_ = true;
      if (clause.glob.parts.size() == 1) {
        (clause.glob.fold_case ? matcher_.folded_texts_ : matcher_.texts_).add(clause.glob.parts.front(), number);
      } else {
        (clause.glob.fold_case ? folded_globs_ : globs_).add(clause.glob, number);
      }
      break;
    case ClauseKind::kNumber:
      numbers_.push_back(
          {clause.number.bottom, clause.number.top, clause.number.without_bottom, clause.number.without_top, number});
      break;
    case ClauseKind::kAddress:
      matcher_.reads_texts_ = true;
      addresses_[clause.address.version6 ? 1 : 0].push_back(
          {clause.address.first, clause.address.last, false, false, number});
      break;
    default: matcher_.words_[static_cast<std::size_t>(clause.kind)] = number;
  }
}

ValueMatcher ValueMatcherBuilder::build() {
  if (!numbers_.empty()) matcher_.numbers_ = RangeIndex<double>(numbers_);
  if (!addresses_[0].empty()) matcher_.addresses4_ = RangeIndex<AddressBits>(addresses_[0]);
  if (!addresses_[1].empty()) matcher_.addresses6_ = RangeIndex<AddressBits>(addresses_[1]);
  matcher_.globs_ = globs_.build();
  matcher_.folded_globs_ = folded_globs_.build();
  matcher_.met_by_clause_ = NumberLists(met_by_clause_);
  matcher_.spoilt_by_clause_ = NumberLists(spoilt_by_clause_);
  matcher_.met_unless_spoilt_ = NumberLists(met_unless_spoilt_);
  return std::move(matcher_);
}

}  // namespace trainwarden::match
