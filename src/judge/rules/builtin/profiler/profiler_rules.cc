#include "judge/rules/builtin/profiler/profiler_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> profiler_rules() {
  return {input_bound()};
}

}  // namespace trainwarden::rules
