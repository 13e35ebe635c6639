// EventRun: one event through an automaton, from its text, in one pass and without a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "react/match/automaton.h"
#include "react/match/json_scanner.h"
#include "trainwarden/status.h"

namespace trainwarden::match {

// Memory of a run, to be used again for the next, with the same automaton or another. It grows with the automaton.
struct RunMemory {
  std::vector<std::uint8_t> facts;         // by fact: how it holds; all 0 between runs
  std::vector<std::uint32_t> holding;      // facts that hold, those of inner objects behind those of outer ones
  std::vector<std::uint8_t> seen;          // by field: it was there in its object; all 0 between runs
  std::vector<std::uint32_t> seen_fields;  // the same as a list
  std::vector<std::uint32_t> found;        // by an object's end: facts of the field that holds the object
  std::vector<std::uint64_t> matched;      // a bit for each pattern; all 0 between runs
  std::string name;                        // of a field, without escapes
  std::string text;                        // of a value, without escapes
  ValueMemory values;
};

class EventRun {
 public:
  EventRun(const Automaton& automaton, std::string_view event, RunMemory& memory);
  ~EventRun();  // leaves the memory as it has to be
  EventRun(const EventRun&) = delete;
  EventRun& operator=(const EventRun&) = delete;

  // The patterns that match, rising.
  Result<std::vector<std::uint32_t>> run();

 private:
  bool read_value(std::uint32_t field);
  bool read_array(std::uint32_t field);
  bool read_object(std::uint32_t field);
  bool read_text(const Field& field);
  bool read_number(const Field& field);
  bool read_word(const Field& field);

  void hold(std::uint32_t fact, std::uint8_t how);
  void end_object(const Field& field, std::size_t mark);
  bool meets(const SubPattern& sub_pattern, std::uint32_t by) const;
  void forget(std::uint32_t field, std::size_t mark);
  std::vector<std::uint32_t> matched_patterns();

  const Automaton& automaton_;
  JsonScanner scanner_;
  RunMemory& memory_;
};

}  // namespace trainwarden::match
