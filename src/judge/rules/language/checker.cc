#include "judge/rules/language/checker.h"

#include <algorithm>

#include <fmt/format.h>

#include "judge/rules/language/source_error.h"

namespace trainwarden::rules::language {
namespace {

// Where the scope reads by the selector first.
Place place_of(const Expression& expression, int scope, int selector) {
  const auto reads = [&](const Node& node) {
    return node.op == Op::kRead && node.scope == scope && node.selector == selector;
  };
  return std::find_if(expression.nodes.begin(), expression.nodes.end(), reads)->place;
}

// Which selector gives the subjects: one with variables, before one for many tensors, before a name.
int rank_of(const Selector& selector) {
  if (!selector.variables().empty()) return 3;
  return selector.one_name() ? 1 : 2;
}

// Each tensor of the one must have its partner among the other's.
bool go_together(const Selector& a, const Selector& b) {
  return a.one_name() || b.one_name() || (!a.variables().empty() && a.variables() == b.variables());
}

Status check_scope(Expression& expression, int index) {
  Scope& scope = expression.scopes[static_cast<std::size_t>(index)];
  const auto& selectors = expression.selectors;
  for (const int number : scope.selectors) {
    const Selector& selector = selectors[static_cast<std::size_t>(number)];
    if (scope.leader == -1) scope.leader = number;
    const Selector& leader = selectors[static_cast<std::size_t>(scope.leader)];
    if (number != scope.leader && !go_together(leader, selector)) {
      return source_error(
          expression.text, place_of(expression, index, number),
          fmt::format("{} and {} are two sets of tensors, and it is not said which belongs to which; name what their "
                      "names share, as in gradient/{{p}} and {{p}}, or take one of them as a whole, as in "
                      "max_over(l2(...))",
                      leader.text(), selector.text()));
    }
    // Of two with variables the longer one selects fewer tensors.
    const bool better = rank_of(selector) > rank_of(leader) || (rank_of(selector) == 3 && rank_of(leader) == 3 &&
                                                                selector.text().size() > leader.text().size());
    if (better) scope.leader = number;
  }
  return {};
}

}  // namespace

Status check_scopes(Expression& expression) {
  for (std::size_t i = 0; i < expression.scopes.size(); ++i) {
    TRAINWARDEN_RETURN_IF_ERROR(check_scope(expression, static_cast<int>(i)));
  }
  for (const Node& node : expression.nodes) {
    if (!is_over_tensors(node.op) || expression.scopes[static_cast<std::size_t>(node.inner)].leader != -1) continue;
    return source_error(expression.text, node.place, "this goes over tensors, but nothing within it reads one");
  }
  if (!expression.selectors.empty()) return {};
  return source_error(expression.text, expression.nodes.back().place,
                      "the rule reads no tensor; one is read as in l2(gradient/*) or value(loss)");
}

}  // namespace trainwarden::rules::language
