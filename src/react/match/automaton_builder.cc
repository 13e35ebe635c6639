#include "react/match/automaton_builder.h"

#include <algorithm>
#include <utility>

namespace trainwarden::match {
namespace {

std::string identity_of(const Condition& condition) {
  std::vector<std::string> clauses;
  for (const Clause& clause : condition.any_of) clauses.push_back(match::identity_of(clause));
  std::sort(clauses.begin(), clauses.end());
  clauses.erase(std::unique(clauses.begin(), clauses.end()), clauses.end());
  std::string identity;
  for (const std::string& clause : clauses) identity += std::to_string(clause.size()) + ':' + clause;
  return identity;
}

bool allows_absence(const Condition& condition) {
  return std::any_of(condition.any_of.begin(), condition.any_of.end(),
                     [](const Clause& clause) { return clause.kind == ClauseKind::kAbsent; });
}

bool is_exact(const Clause& clause) {
  if (clause.kind == ClauseKind::kGlob) return clause.glob.parts.size() == 1;
  return clause.kind == ClauseKind::kNumber && clause.number.bottom == clause.number.top;
}

}  // namespace

void AutomatonBuilder::add(const PatternTree& tree, std::uint32_t pattern) {
  pattern_count_ = std::max<std::size_t>(pattern_count_, pattern + 1);
  for (const auto& alternative : tree.alternatives) {
    std::vector<const Leaf*> leaves;
    for (const std::uint32_t leaf : alternative) leaves.push_back(&tree.leaves[leaf]);
    std::sort(leaves.begin(), leaves.end(), [](const Leaf* a, const Leaf* b) { return a->path < b->path; });
    std::vector<std::uint32_t>& patterns = facts_[add_sub_pattern(0, leaves, 0)].patterns;
    if (patterns.empty() || patterns.back() != pattern) patterns.push_back(pattern);
  }
}

std::uint32_t AutomatonBuilder::add_sub_pattern(std::uint32_t field, std::span<const Leaf* const> leaves,
                                                std::size_t depth) {
  std::vector<std::uint32_t> needs;
  while (!leaves.empty()) {
    const std::string& name = leaves.front()->path[depth];
    const std::uint32_t inner = field_in(field, name);
    std::size_t here = 0;  // leaves of this name; those that end here come first
    while (here < leaves.size() && leaves[here]->path[depth] == name) ++here;
    std::size_t ending = 0;
    for (; ending < here && leaves[ending]->path.size() == depth + 1; ++ending) {
      needs.push_back(add_condition(inner, leaves[ending]->condition));
    }
    if (ending < here) needs.push_back(add_sub_pattern(inner, leaves.subspan(ending, here - ending), depth + 1));
    leaves = leaves.subspan(here);
  }
  std::sort(needs.begin(), needs.end());
  needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  const auto known = fields_[field].sub_patterns.find(needs);
  if (known != fields_[field].sub_patterns.end()) return known->second;

  const std::uint32_t fact = new_fact(field);
  facts_[fact].is_sub_pattern = true;
  const bool absentable =
      std::all_of(needs.begin(), needs.end(), [this](std::uint32_t need) { return facts_[need].presence != kNoFact; });
  if (absentable && field != 0) {
    const std::uint32_t presence = new_fact(field);
    for (const std::uint32_t need : needs) facts_[facts_[need].presence].implied.push_back(presence);
    may_be_absent(fact, presence);
  }
  facts_[fact].needs = needs;
  fields_[field].sub_patterns.emplace(std::move(needs), fact);
  return fact;
}

std::uint32_t AutomatonBuilder::add_condition(std::uint32_t field, const Condition& condition) {
  const auto [known, added] = fields_[field].conditions.emplace(identity_of(condition), 0);
  if (!added) return known->second;
  const std::uint32_t fact = known->second = new_fact(field);
  facts_[fact].condition = &condition;
  fields_[field].values.add(condition, fact);
  fields_[field].exact_clauses +=
      static_cast<std::size_t>(std::count_if(condition.any_of.begin(), condition.any_of.end(), is_exact));
  if (allows_absence(condition)) may_be_absent(fact, value_presence_of(field));
  return fact;
}

std::uint32_t AutomatonBuilder::field_in(std::uint32_t parent, const std::string& name) {
  const auto next = static_cast<std::uint32_t>(fields_.size());
  const auto [known, added] = fields_[parent].names.emplace(name, next);
  const std::uint32_t field = known->second;
  if (added) {
    fields_.emplace_back();
    fields_.back().parent = parent;
  }
  return field;
}

std::uint32_t AutomatonBuilder::new_fact(std::uint32_t field) {
  facts_.emplace_back();
  facts_.back().field = field;
  return static_cast<std::uint32_t>(facts_.size() - 1);
}

std::uint32_t AutomatonBuilder::value_presence_of(std::uint32_t field) {
  if (fields_[field].value_presence == kNoFact) fields_[field].value_presence = new_fact(field);
  return fields_[field].value_presence;
}

void AutomatonBuilder::may_be_absent(std::uint32_t fact, std::uint32_t presence) {
  facts_[fact].presence = presence;
  fields_[fields_[facts_[fact].field].parent].absences.push_back({fact, presence});
}

// How often a fact will hold, roughly: what matters is only that sub-patterns wait for facts that are rarer than
// others.
double AutomatonBuilder::likelihood_of(const FactDraft& fact) const {
  if (fact.is_sub_pattern) {
    double all = 1;
    for (const std::uint32_t need : fact.needs) all *= facts_[need].likelihood;
    return all;
  }
  if (fact.condition == nullptr) return 1;  // a presence
  double any = 0;
  for (const Clause& clause : fact.condition->any_of) {
    switch (clause.kind) {
      case ClauseKind::kAny: any += 0.9; break;
      case ClauseKind::kAnythingBut: any += 0.8; break;
      case ClauseKind::kAbsent: any += 0.5; break;
      case ClauseKind::kGlob:
      case ClauseKind::kNumber:
        any += is_exact(clause) ? 1.0 / (1.0 + static_cast<double>(fields_[fact.field].exact_clauses)) : 0.3;
        break;
      default: any += 0.3;
    }
  }
  return std::min(any, 1.0);
}

Automaton AutomatonBuilder::build() {
  for (FactDraft& fact : facts_) fact.likelihood = likelihood_of(fact);  // what a sub-pattern needs is older than it
  Automaton automaton;
  automaton.pattern_count = pattern_count_;
  build_fields(automaton);
  build_sub_patterns(automaton);
  std::vector<std::vector<std::uint32_t>> patterns;
  for (FactDraft& fact : facts_) {
    automaton.fact_fields.push_back(fact.field);
    patterns.push_back(std::move(fact.patterns));
  }
  automaton.patterns = NumberLists(patterns);
  return automaton;
}

void AutomatonBuilder::build_fields(Automaton& automaton) {
  for (FieldDraft& draft : fields_) {
    Field field;
    for (const auto& [name, number] : draft.names) field.names.add(name, number);
    field.values = draft.values.build();
    field.has_conditions = !draft.conditions.empty();
    field.value_presence = draft.value_presence;
    field.absences = std::move(draft.absences);
    automaton.fields.push_back(std::move(field));
  }
}

void AutomatonBuilder::build_sub_patterns(Automaton& automaton) {
  std::vector<std::vector<std::uint32_t>> waiting(facts_.size());
  const auto add = [&](std::uint32_t by, std::span<const std::uint32_t> others, std::uint32_t fact, bool presence) {
    waiting[by].push_back(static_cast<std::uint32_t>(automaton.sub_patterns.size()));
    automaton.sub_patterns.push_back({fact, static_cast<std::uint32_t>(automaton.others.size()),
                                      static_cast<std::uint32_t>(others.size()), presence});
    automaton.others.insert(automaton.others.end(), others.begin(), others.end());
  };
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    FactDraft& fact = facts_[number];
    for (const std::uint32_t presence : fact.implied) add(number, {}, presence, false);
    if (!fact.is_sub_pattern) continue;
    std::sort(fact.needs.begin(), fact.needs.end(),
              [this](std::uint32_t a, std::uint32_t b) { return facts_[a].likelihood < facts_[b].likelihood; });
    add(fact.needs.front(), std::span(fact.needs).subspan(1), number, fact.presence != kNoFact);
  }
  automaton.waiting = NumberLists(waiting);
}

}  // namespace trainwarden::match
