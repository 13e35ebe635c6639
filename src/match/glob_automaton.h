// GlobAutomaton: which of many globs (prefixes, suffixes, wildcards) a text matches, in one pass over the text.
//
// The globs share a tree of bytes. A star in them is a state that is never left: a text is in all such states that it
// has come by, and beside them in those that its last bytes lead to. Globs that begin alike share their states, so the
// pass costs what the text can still become, and not the number of globs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "match/pattern_tree.h"

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
  void add(const Glob& glob, std::uint32_t number);
  bool empty() const { return empty_; }

  // Calls found(number) once for each glob that `text` matches.
  template <class Found>
  void find(std::string_view text, GlobMemory& memory, Found&& found) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct State {
    std::array<std::uint64_t, 4> bytes{};  // a bit for each byte that leads on
    std::vector<std::uint32_t> next;       // where to, in the order of the bytes
    std::uint32_t star = kNone;            // the state behind the star that comes next
    std::vector<std::uint32_t> ends;       // globs that the text matches when it ends here
    std::vector<std::uint32_t> done;       // globs that it matches whatever follows
  };

  static std::size_t rank(const State& state, unsigned char byte);
  static std::uint32_t next_on(const State& state, unsigned char byte);
  std::uint32_t step_from(std::uint32_t state, unsigned char byte);
  std::uint32_t star_behind(std::uint32_t state);
  std::uint32_t new_state();

  template <class Found>
  void enter(std::uint32_t state, std::vector<std::uint32_t>& states, GlobMemory& memory, Found& found) const;

  std::vector<State> states_ = std::vector<State>(1);
  bool empty_ = true;
};

// How many lower bytes lead on.
inline std::size_t GlobAutomaton::rank(const State& state, unsigned char byte) {
  const std::size_t word = byte / 64;
  int count = std::popcount(state.bytes[word] & ((std::uint64_t{1} << byte % 64) - 1));
  for (std::size_t i = 0; i < word; ++i) count += std::popcount(state.bytes[i]);
  return static_cast<std::size_t>(count);
}

inline std::uint32_t GlobAutomaton::next_on(const State& state, unsigned char byte) {
  const bool leads_on = (state.bytes[byte / 64] >> byte % 64 & 1) != 0;
  return leads_on ? state.next[rank(state, byte)] : kNone;
}

template <class Found>
void GlobAutomaton::enter(std::uint32_t state, std::vector<std::uint32_t>& states, GlobMemory& memory,
                          Found& found) const {
  const State& entered = states_[state];
  if (!entered.next.empty() || !entered.ends.empty()) states.push_back(state);
  if (entered.star == kNone || memory.has_passed[entered.star] != 0) return;
  memory.has_passed[entered.star] = 1;
  memory.passed.push_back(entered.star);
  const State& behind = states_[entered.star];
  if (!behind.next.empty()) memory.stars.push_back(entered.star);
  for (const std::uint32_t number : behind.done) found(number);
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
      const std::uint32_t next = next_on(states_[memory.stars[i]], byte);
      if (next != kNone) enter(next, memory.next, memory, found);
    }
    for (const std::uint32_t state : memory.now) {
      const std::uint32_t next = next_on(states_[state], byte);
      if (next != kNone) enter(next, memory.next, memory, found);
    }
    memory.now.swap(memory.next);
  }
  for (const std::uint32_t state : memory.now) {
    for (const std::uint32_t number : states_[state].ends) found(number);
  }
  for (const std::uint32_t star : memory.passed) memory.has_passed[star] = 0;
  memory.passed.clear();
  memory.stars.clear();
}

}  // namespace trainwarden::match
