// AutomatonBuilder: compiles patterns into an automaton.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "react/match/automaton.h"
#include "react/match/pattern_tree.h"

namespace trainwarden::match {

class AutomatonBuilder {
 public:
  AutomatonBuilder() : fields_(1) {}

  void add(const PatternTree& tree, std::uint32_t pattern);
  Automaton build();

 private:
  struct FieldDraft {
    std::uint32_t parent = 0;
    std::map<std::string, std::uint32_t> names;
    std::map<std::string, std::uint32_t> conditions;  // by identity: facts
    std::map<std::vector<std::uint32_t>, std::uint32_t> sub_patterns;
    std::uint32_t value_presence = kNoFact;
    std::vector<Absence> absences;
    ValueMatcherBuilder values;
    std::size_t exact_clauses = 0;
  };
  struct FactDraft {
    std::uint32_t field = 0;
    std::uint32_t presence = kNoFact;      // the fact that must not hold for its absence; kNoFact: it cannot be absent
    std::vector<std::uint32_t> needs;      // of a sub-pattern
    const Condition* condition = nullptr;  // of a condition
    std::vector<std::uint32_t> implied;
    std::vector<std::uint32_t> patterns;
    bool is_sub_pattern = false;
    double likelihood = 1;  // a guess
  };

  // The fact that the object at `field` meets all of `leaves`, whose paths are alike up to `depth` and sorted.
  std::uint32_t add_sub_pattern(std::uint32_t field, std::span<const Leaf* const> leaves, std::size_t depth);
  std::uint32_t add_condition(std::uint32_t field, const Condition& condition);
  std::uint32_t field_in(std::uint32_t parent, const std::string& name);
  std::uint32_t new_fact(std::uint32_t field);
  std::uint32_t value_presence_of(std::uint32_t field);
  void may_be_absent(std::uint32_t fact, std::uint32_t presence);

  double likelihood_of(const FactDraft& fact) const;
  void build_fields(Automaton& automaton);
  void build_sub_patterns(Automaton& automaton);

  std::vector<FieldDraft> fields_;
  std::vector<FactDraft> facts_;
  std::size_t pattern_count_ = 0;
};

}  // namespace trainwarden::match
