// Automaton: many patterns, compiled. What it is made of; automaton_builder.h makes it, event_run.h runs it.
//
// It is a tree of the fields that patterns name, and it deals in facts. A fact belongs to a field. There are three
// kinds: the field's value meets a condition; the field's object meets a sub-pattern, all of it; something that an
// "exists": false asks about is there. While an event is read, the facts of the fields of an object are collected, and
// at its closing brace they say which sub-patterns the object meets. These are facts of the field that holds the
// object. An array's facts are those of all of its elements together; as a sub-pattern is met by one object, its
// conditions can only be met by one element. The facts of the outermost object are alternatives of patterns.
//
// Two patterns that have a condition or a sub-pattern in common share the fact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "react/match/number_lists.h"
#include "react/match/text_table.h"
#include "react/match/value_matcher.h"

namespace trainwarden::match {

inline constexpr std::uint32_t kNoFact = UINT32_MAX;

// The fact `fact` holds when `presence`, looked at when the object that the field is in has ended, does not.
struct Absence {
  std::uint32_t fact;
  std::uint32_t presence;
};

struct Field {
  TextTable names;      // of the fields in its objects: numbers of fields
  ValueMatcher values;  // conditions: numbers of facts
  bool has_conditions = false;
  std::uint32_t value_presence = kNoFact;  // this field has a value
  std::vector<Absence> absences;           // of the fields in its objects
};

// A sub-pattern, without the fact that it is looked for by: the least likely of those that it needs. A presence that
// follows from another fact is looked for in the same way, as a sub-pattern that needs nothing else.
struct SubPattern {
  std::uint32_t fact;         // that holds when the sub-pattern is met
  std::uint32_t first_other;  // the other facts that it needs, in Automaton::others, the least likely first
  std::uint32_t other_count;
  // All that it needs may be an absence. An object that lacks everything is not one that was chosen: then nothing of it
  // may be in the other elements either, which is what the absence of the whole sub-pattern says.
  bool needs_presence;
};

struct Automaton {
  std::vector<Field> fields;               // 0: the event itself
  std::vector<std::uint32_t> fact_fields;  // by fact: the field that it belongs to
  NumberLists waiting;                     // by fact: sub-patterns that are looked for by it
  std::vector<SubPattern> sub_patterns;
  std::vector<std::uint32_t> others;
  NumberLists patterns;  // by fact: patterns that match when it holds
  std::size_t pattern_count = 0;
};

}  // namespace trainwarden::match
