// PatternTree: a pattern that is known to be right, in the form that an automaton is built from.
//
// A pattern is a choice between alternatives (one, unless it has "$or"). An alternative holds when all of its leaves
// do. A leaf is a path of field names with a condition: a list of clauses, any of which is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "react/match/address.h"

namespace trainwarden::match {

// A text with stars in it: its parts are what stands between the stars. {"abc"} is the text itself, {"abc", ""} its
// prefix, {"", "abc"} its suffix.
struct Glob {
  std::vector<std::string> parts;
  bool fold_case = false;  // the parts are folded, and so is the value that they are compared with
  friend auto operator<=>(const Glob&, const Glob&) = default;
};

struct NumberRange {
  double bottom = 0;
  double top = 0;
  bool without_bottom = false;
  bool without_top = false;
};

enum class ClauseKind : std::uint8_t { kTrue, kFalse, kNull, kGlob, kNumber, kAddress, kAny, kAbsent, kAnythingBut };

// What one item of a leaf's list asks of a value. A value is a string, a number, true, false or null.
struct Clause {
  ClauseKind kind = ClauseKind::kAny;
  Glob glob;                     // kGlob
  NumberRange number;            // kNumber
  AddressRange address;          // kAddress
  std::vector<Clause> excluded;  // kAnythingBut: kGlob or kNumber; holds for a value of any type that passes none
};

struct Condition {
  std::vector<Clause> any_of;
};

struct Leaf {
  std::vector<std::string> path;
  Condition condition;
};

struct PatternTree {
  std::vector<Leaf> leaves;
  std::vector<std::vector<std::uint32_t>> alternatives;  // numbers of leaves, each once
};

// Bounds of what a pattern may be.
inline constexpr std::size_t kMaxPatternBytes = 64 << 10;
inline constexpr int kMaxPatternDepth = 64;             // fields within fields
inline constexpr std::size_t kMaxAlternatives = 1000;   // that "$or" multiplies out to
inline constexpr std::size_t kMaxPlacements = 100'000;  // leaves, counted once for each alternative that they are in
inline constexpr std::size_t kMaxStars = 16;            // in a wildcard

}  // namespace trainwarden::match
