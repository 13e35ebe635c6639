// The linter for metric definitions: patterns that compile, and yet do not find what their writer means.
#pragma once

#include <string>
#include <vector>

#include "work/log_metrics/definition.h"

namespace trainwarden::log_metrics {

struct LintWarning {
  std::string code;  // "METRIC_AMBIGUOUS", "METRIC_NUMBERS", "METRIC_NO_GROUP"
  std::string metric;
  std::string place;    // as in the definition
  std::string message;  // what goes wrong, with an example
  std::string instead;  // a pattern that does not have the fault; empty: none can be told
};

// By definition, in the order of the set:
// METRIC_AMBIGUOUS: its literal beginning stands within that of another ("loss: " in "val_loss: "), after a letter, a
//   digit, "_", "/", "." or "-", and nothing in the pattern forbids that. Not in a strict set.
// METRIC_NUMBERS: it catches 0.5 and yet misses or cuts other numbers that programs print (-0.5, 1.2e-05, nan, inf).
// METRIC_NO_GROUP: the whole match is the value, and it begins with text that is no number.
// The patterns compile: definition.h has checked them. Each is tried on short texts, under the limits of Regex.
std::vector<LintWarning> lint(const DefinitionSet& set);

}  // namespace trainwarden::log_metrics
