#include "react/match/event_run.h"

#include <algorithm>
#include <bit>

#include "react/match/json_number.h"

namespace trainwarden::match {
namespace {

// How a fact holds.
constexpr std::uint8_t kByPresence = 1;
constexpr std::uint8_t kByAbsence = 2;

template <class T>
void grow_to(std::vector<T>& values, std::size_t size) {
  if (values.size() < size) values.resize(size);
}

}  // namespace

EventRun::EventRun(const Automaton& automaton, std::string_view event, RunMemory& memory)
    : automaton_(automaton), scanner_(event), memory_(memory) {
  grow_to(memory.facts, automaton.fact_fields.size());
  grow_to(memory.seen, automaton.fields.size());
  grow_to(memory.matched, (automaton.pattern_count + 63) / 64);
}

EventRun::~EventRun() {
  for (const std::uint32_t fact : memory_.holding) memory_.facts[fact] = 0;
  for (const std::uint32_t field : memory_.seen_fields) memory_.seen[field] = 0;
  memory_.holding.clear();
  memory_.seen_fields.clear();
  memory_.found.clear();
}

Result<std::vector<std::uint32_t>> EventRun::run() {
  if (scanner_.peek() != '{') {
    scanner_.fail("an object");
    return scanner_.status();
  }
  if (!read_object(0) || !scanner_.read_end()) return scanner_.status();
  return matched_patterns();
}

std::vector<std::uint32_t> EventRun::matched_patterns() {
  for (const std::uint32_t fact : memory_.holding) {
    for (const std::uint32_t pattern : automaton_.patterns[fact]) {
      memory_.matched[pattern / 64] |= std::uint64_t{1} << pattern % 64;
    }
  }
  std::vector<std::uint32_t> numbers;
  for (std::size_t word = 0; 64 * word < automaton_.pattern_count; ++word) {
    for (std::uint64_t bits = memory_.matched[word]; bits != 0; bits &= bits - 1) {
      numbers.push_back(static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
    memory_.matched[word] = 0;
  }
  return numbers;
}

bool EventRun::read_value(std::uint32_t field) {
  switch (scanner_.peek()) {
    case '{': return read_object(field);
    case '[': return read_array(field);
    case '"': return read_text(automaton_.fields[field]);
    case 't':
    case 'f':
    case 'n': return read_word(automaton_.fields[field]);
    default: return read_number(automaton_.fields[field]);
  }
}

// Its elements have the field's facts together. The recursion is as deep as JsonScanner lets brackets be.
bool EventRun::read_array(std::uint32_t field) {
  if (!scanner_.open('[')) return false;
  while (scanner_.next_item(']')) {
    if (!read_value(field)) return false;
  }
  return !scanner_.failed();
}

bool EventRun::read_object(std::uint32_t number) {
  const Field& field = automaton_.fields[number];
  const std::size_t mark = memory_.holding.size();
  const std::size_t seen_mark = memory_.seen_fields.size();
  if (!scanner_.open('{')) return false;
  RawString name;
  while (scanner_.next_item('}')) {
    if (!scanner_.read_key(name)) return false;
    const std::uint32_t inner = field.names.find(decoded(name, memory_.name));
    if (inner == TextTable::kNone) {
      if (!scanner_.skip_value()) return false;
      continue;
    }
    if (memory_.seen[inner] != 0) {
      forget(inner, mark);
    } else {
      memory_.seen[inner] = 1;
      memory_.seen_fields.push_back(inner);
    }
    if (!read_value(inner)) return false;
  }
  if (scanner_.failed()) return false;
  for (std::size_t i = seen_mark; i < memory_.seen_fields.size(); ++i) memory_.seen[memory_.seen_fields[i]] = 0;
  memory_.seen_fields.resize(seen_mark);
  end_object(field, mark);
  return true;
}

bool EventRun::read_text(const Field& field) {
  RawString raw;
  if (!scanner_.read_string(raw)) return false;
  if (!field.has_conditions) return true;
  if (field.value_presence != kNoFact) hold(field.value_presence, kByPresence);
  const std::string_view text = field.values.reads_texts() ? decoded(raw, memory_.text) : raw.text;
  field.values.match_text(text, memory_.values, [this](std::uint32_t fact) { hold(fact, kByPresence); });
  return true;
}

bool EventRun::read_number(const Field& field) {
  std::string_view text;
  if (!scanner_.read_number(text)) return false;
  if (!field.has_conditions) return true;
  if (field.value_presence != kNoFact) hold(field.value_presence, kByPresence);
  const double number = field.values.reads_numbers() ? number_of(text) : 0;
  field.values.match_number(number, memory_.values, [this](std::uint32_t fact) { hold(fact, kByPresence); });
  return true;
}

bool EventRun::read_word(const Field& field) {
  const char first = scanner_.peek();
  if (!scanner_.read_word()) return false;
  if (!field.has_conditions) return true;
  if (field.value_presence != kNoFact) hold(field.value_presence, kByPresence);
  const ClauseKind word = first == 't' ? ClauseKind::kTrue : first == 'f' ? ClauseKind::kFalse : ClauseKind::kNull;
  field.values.match_word(word, memory_.values, [this](std::uint32_t fact) { hold(fact, kByPresence); });
  return true;
}

void EventRun::hold(std::uint32_t fact, std::uint8_t how) {
  if (memory_.facts[fact] == 0) memory_.holding.push_back(fact);
  memory_.facts[fact] |= how;
}

// A name that an object has twice: the last one counts, as for who reads the event.
void EventRun::forget(std::uint32_t field, std::size_t mark) {
  const auto begin = memory_.holding.begin() + static_cast<std::ptrdiff_t>(mark);
  const auto kept = std::remove_if(begin, memory_.holding.end(), [&](std::uint32_t fact) {
    if (automaton_.fact_fields[fact] != field) return false;
    memory_.facts[fact] = 0;
    return true;
  });
  memory_.holding.erase(kept, memory_.holding.end());
}

inline bool EventRun::meets(const SubPattern& sub_pattern, std::uint32_t by) const {
  const std::uint8_t* const facts = memory_.facts.data();
  const std::uint32_t* const others = automaton_.others.data() + sub_pattern.first_other;
  bool present = facts[by] == kByPresence;
  for (std::uint32_t i = 0; i < sub_pattern.other_count; ++i) {
    const std::uint8_t how = facts[others[i]];
    if (how == 0) return false;
    present = present || how == kByPresence;
  }
  return present || !sub_pattern.needs_presence;
}

// The facts since `mark` are those of the fields in an object of `field`, which has ended. They become the facts of
// the field itself.
void EventRun::end_object(const Field& field, std::size_t mark) {
  for (const Absence& absence : field.absences) {
    if (memory_.facts[absence.presence] == 0) hold(absence.fact, kByAbsence);
  }
  for (std::size_t i = mark; i < memory_.holding.size(); ++i) {
    const std::uint32_t fact = memory_.holding[i];
    for (const std::uint32_t number : automaton_.waiting[fact]) {
      const SubPattern& sub_pattern = automaton_.sub_patterns[number];
      if (meets(sub_pattern, fact)) memory_.found.push_back(sub_pattern.fact);
    }
  }
  for (std::size_t i = mark; i < memory_.holding.size(); ++i) memory_.facts[memory_.holding[i]] = 0;
  memory_.holding.resize(mark);
  for (const std::uint32_t fact : memory_.found) hold(fact, kByPresence);
  memory_.found.clear();
}

}  // namespace trainwarden::match
