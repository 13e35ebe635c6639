// GlobAutomaton: which of many globs (prefixes, suffixes, wildcards) a text matches, in one pass over the text.
//
// The globs share a tree of bytes. A star in them is a state that is never left: a text is in all such states that it
// has come by, and beside them in those that its last bytes lead to. Globs that begin alike share their states, so the
// pass costs what the text can still become, and not the number of globs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "react/match/number_lists.h"
#include "react/match/pattern_tree.h"

namespace trainwarden::match {

// Memory of a pass, to be used again for the next, with the same automaton or another.
struct GlobMemory {
  std::vector<std::uint32_t> now;
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> stars;      // states behind stars that the text has come by, and that bytes lead out of
  std::vector<std::uint32_t> passed;     // all states behind stars that it has come by
  std::vector<std::uint8_t> has_passed;  // by state; all 0 between passes
};

class GlobAutomaton {
 public:
  bool empty() const { return states_.empty(); }

  // Calls found(number) once for each glob that `text` matches.
  template <class Found>
  void find(std::string_view text, GlobMemory& memory, Found&& found) const;

 private:
  friend class GlobAutomatonBuilder;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  enum class Way : std::uint8_t { kNowhere, kOneByte, kManyBytes };
  struct State {
    Way way = Way::kNowhere;  // which bytes lead on
    unsigned char byte = 0;   // kOneByte
    bool has_ends = false;
    std::uint32_t next = kNone;  // kOneByte: the next state; kManyBytes: which of tables_
    std::uint32_t star = kNone;  // the state behind the star that comes next
  };
  using Table = std::array<std::uint32_t, 256>;  // by byte: the next state, or kNone

  std::uint32_t next_on(std::uint32_t state, unsigned char byte) const;
  template <class Found>
  void enter(std::uint32_t state, std::vector<std::uint32_t>& states, GlobMemory& memory, Found& found) const;

  std::vector<State> states_;
  std::vector<Table> tables_;
  NumberLists ends_;  // by state: globs that the text matches when it ends there
  NumberLists done_;  // by state: globs that it matches whatever follows
};

class GlobAutomatonBuilder {
 public:
  void add(const Glob& glob, std::uint32_t number);
  GlobAutomaton build() const;

 private:
  struct Draft {
    std::map<unsigned char, std::uint32_t> next;
    std::uint32_t star = GlobAutomaton::kNone;
    std::vector<std::uint32_t> ends;
    std::vector<std::uint32_t> done;
  };
  std::uint32_t new_state();

  std::vector<Draft> states_;
};

inline std::uint32_t GlobAutomaton::next_on(std::uint32_t number, unsigned char byte) const {
  const State& state = states_[number];
  if (state.way == Way::kManyBytes) return tables_[state.next][byte];
  return state.way == Way::kOneByte && state.byte == byte ? state.next : kNone;
}

template <class Found>
void GlobAutomaton::enter(std::uint32_t number, std::vector<std::uint32_t>& states, GlobMemory& memory,
                          Found& found) const {
  const State& state = states_[number];
  if (state.way != Way::kNowhere || state.has_ends) states.push_back(number);
  if (state.star == kNone || memory.has_passed[state.star] != 0) return;
  memory.has_passed[state.star] = 1;
  memory.passed.push_back(state.star);
  if (states_[state.star].way != Way::kNowhere) memory.stars.push_back(state.star);
  for (const std::uint32_t glob : done_[state.star]) found(glob);
}

template <class Found>
void GlobAutomaton::find(std::string_view text, GlobMemory& memory, Found&& found) const {
  if (memory.has_passed.size() < states_.size()) memory.has_passed.resize(states_.size());
  memory.now.clear();
  enter(0, memory.now, memory, found);
  for (const char c : text) {
    if (memory.now.empty() && memory.stars.empty()) break;
    const auto byte = static_cast<unsigned char>(c);
    memory.next.clear();
    const std::size_t stars = memory.stars.size();  // those that this byte leads to do not read it
    for (std::size_t i = 0; i < stars; ++i) {
      const std::uint32_t next = next_on(memory.stars[i], byte);
      if (next != kNone) enter(next, memory.next, memory, found);
    }
    for (const std::uint32_t state : memory.now) {
      const std::uint32_t next = next_on(state, byte);
      if (next != kNone) enter(next, memory.next, memory, found);
    }
    memory.now.swap(memory.next);
  }
  for (const std::uint32_t state : memory.now) {
    for (const std::uint32_t glob : ends_[state]) found(glob);
  }
  for (const std::uint32_t star : memory.passed) memory.has_passed[star] = 0;
  memory.passed.clear();
  memory.stars.clear();
}

}  // namespace trainwarden::match
