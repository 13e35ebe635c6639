// ValueMatcher: which of many conditions a value of one field meets.
//
// Each clause that occurs in the conditions is looked for once, however many conditions have it: texts in a hash table,
// prefixes, suffixes and wildcards in an automaton, numbers and addresses in an index of ranges. What a clause passes
// says which conditions hold, and which "anything-but" are spoilt.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "react/match/glob_automaton.h"
#include "react/match/number_lists.h"
#include "react/match/pattern_tree.h"
#include "react/match/range_index.h"
#include "react/match/text_table.h"

namespace trainwarden::match {

// Memory of a lookup, to be used again for the next, with the same matcher or another.
struct ValueMemory {
  GlobMemory globs;
  std::string folded;
  std::vector<std::uint8_t> spoilt;  // by "anything-but"; all 0 between lookups
};

class ValueMatcher {
 public:
  // Calls met(number) for each condition that the value meets, for some more than once.
  template <class Met>
  void match_text(std::string_view text, ValueMemory& memory, Met&& met) const;
  template <class Met>
  void match_number(double number, ValueMemory& memory, Met&& met) const;
  template <class Met>
  void match_word(ClauseKind word, ValueMemory& memory, Met&& met) const;  // kTrue, kFalse, kNull

  bool reads_texts() const { return reads_texts_; }  // otherwise every text is as good as another
  bool reads_numbers() const { return !numbers_.empty(); }

 private:
  friend class ValueMatcherBuilder;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // `hits(report)` calls report(clause) for each clause that the value passes.
  template <class Hits, class Met>
  void match(ValueMemory& memory, Hits&& hits, Met&& met) const;

  TextTable texts_;
  TextTable folded_texts_;
  GlobAutomaton globs_;
  GlobAutomaton folded_globs_;
  RangeIndex<double> numbers_;
  RangeIndex<AddressBits> addresses4_;
  RangeIndex<AddressBits> addresses6_;
  std::uint32_t words_[3] = {kNone, kNone, kNone};  // kTrue, kFalse, kNull
  std::vector<std::uint32_t> met_by_any_;           // conditions that every value meets
  NumberLists met_by_clause_;                       // by clause: conditions that it makes hold
  NumberLists spoilt_by_clause_;                    // by clause: "anything-but" that exclude it
  NumberLists met_unless_spoilt_;                   // by "anything-but": conditions
  bool reads_texts_ = false;
};

class ValueMatcherBuilder {
 public:
  // `number` is what match_*() report when the condition is met. "exists": false is for who knows that there is no
  // value.
  void add(const Condition& condition, std::uint32_t number);
  ValueMatcher build();

 private:
  std::uint32_t number_of(const Clause& clause);  // a kind that is neither kAny, kAbsent nor kAnythingBut
  void index(const Clause& clause, std::uint32_t number);

  ValueMatcher matcher_;
  GlobAutomatonBuilder globs_;
  GlobAutomatonBuilder folded_globs_;
  std::map<std::string, std::uint32_t> clauses_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> exclusions_;
  std::vector<std::vector<std::uint32_t>> met_by_clause_;
  std::vector<std::vector<std::uint32_t>> spoilt_by_clause_;
  std::vector<std::vector<std::uint32_t>> met_unless_spoilt_;
  std::vector<RangeIndex<double>::Range> numbers_;
  std::vector<RangeIndex<AddressBits>::Range> addresses_[2];  // of version 4, of version 6
};

// The same for two clauses exactly when they ask the same.
std::string identity_of(const Clause& clause);

}  // namespace trainwarden::match

#include "react/match/value_matcher_inline.h"
