#include "react/match/glob_automaton.h"

namespace trainwarden::match {

std::uint32_t GlobAutomatonBuilder::new_state() {
  states_.emplace_back();
  return static_cast<std::uint32_t>(states_.size() - 1);
}

void GlobAutomatonBuilder::add(const Glob& glob, std::uint32_t number) {
  std::uint32_t state = states_.empty() ? new_state() : 0;
  for (std::size_t i = 0; i < glob.parts.size(); ++i) {
    if (i > 0) {
      if (states_[state].star == GlobAutomaton::kNone) {
        const std::uint32_t added = new_state();
        states_[state].star = added;
      }
      state = states_[state].star;
    }
    for (const char c : glob.parts[i]) {
      const auto byte = static_cast<unsigned char>(c);
      const auto known = states_[state].next.find(byte);
      const std::uint32_t next = known != states_[state].next.end() ? known->second : new_state();
      states_[state].next[byte] = next;
      state = next;
    }
  }
  const bool ends_in_star = glob.parts.size() > 1 && glob.parts.back().empty();
  (ends_in_star ? states_[state].done : states_[state].ends).push_back(number);
}

GlobAutomaton GlobAutomatonBuilder::build() const {
  using Way = GlobAutomaton::Way;
  GlobAutomaton automaton;
  std::vector<std::vector<std::uint32_t>> ends;
  std::vector<std::vector<std::uint32_t>> done;
  for (const Draft& draft : states_) {
    GlobAutomaton::State state;
    state.star = draft.star;
    state.has_ends = !draft.ends.empty();
    if (draft.next.size() == 1) {
      state.way = Way::kOneByte;
      state.byte = draft.next.begin()->first;
      state.next = draft.next.begin()->second;
    } else if (!draft.next.empty()) {
      state.way = Way::kManyBytes;
      state.next = static_cast<std::uint32_t>(automaton.tables_.size());
      automaton.tables_.emplace_back().fill(GlobAutomaton::kNone);
      for (const auto& [byte, next] : draft.next) automaton.tables_.back()[byte] = next;
    }
    automaton.states_.push_back(state);
    ends.push_back(draft.ends);
    done.push_back(draft.done);
  }
  automaton.ends_ = NumberLists(ends);
  automaton.done_ = NumberLists(done);
  return automaton;
}

}  // namespace trainwarden::match
