#include "match/glob_automaton.h"

namespace trainwarden::match {

std::uint32_t GlobAutomaton::new_state() {
  states_.emplace_back();
  return static_cast<std::uint32_t>(states_.size() - 1);
}

std::uint32_t GlobAutomaton::step_from(std::uint32_t state, unsigned char byte) {
  const std::uint32_t known = next_on(states_[state], byte);
  if (known != kNone) return known;
  const std::uint32_t added = new_state();
  State& from = states_[state];
  from.next.insert(from.next.begin() + static_cast<std::ptrdiff_t>(rank(from, byte)), added);
  from.bytes[byte / 64] |= std::uint64_t{1} << byte % 64;
  return added;
}

std::uint32_t GlobAutomaton::star_behind(std::uint32_t state) {
  if (states_[state].star == kNone) {
    const std::uint32_t added = new_state();
    states_[state].star = added;
  }
  return states_[state].star;
}

void GlobAutomaton::add(const Glob& glob, std::uint32_t number) {
  empty_ = false;
  std::uint32_t state = 0;
  for (std::size_t i = 0; i < glob.parts.size(); ++i) {
    if (i > 0) state = star_behind(state);
    for (const char c : glob.parts[i]) state = step_from(state, static_cast<unsigned char>(c));
  }
  const bool ends_in_star = glob.parts.size() > 1 && glob.parts.back().empty();
  (ends_in_star ? states_[state].done : states_[state].ends).push_back(number);
}

}  // namespace trainwarden::match
