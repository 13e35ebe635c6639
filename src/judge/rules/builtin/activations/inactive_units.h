// What DeadRelu and SaturatedActivation have in common: layers of which too many units are hardly ever active.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "judge/rules/builtin/activations/unit_activity.h"
#include "judge/rules/parameters.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// Tensors that are judged by one range. Of those that several kinds select, the first counts.
struct WatchedKind {
  TensorSelection selection;
  std::string name_part;  // in lower case; must occur in the tensor's name, "" in any
  ActiveRange range;
  bool needs_histogram = false;  // counts of zeros and the extremes do not say enough
};

struct InactiveWords {
  std::string tensor;    // what is judged: "relu output"
  std::string units;     // "of the ReLUs are dead"
  std::string unit_is;   // "active"
  std::string quantity;  // of the evidence: "dead_percent"
  std::string advice;
  std::string needs;  // name of the collection of patterns
};

std::unique_ptr<Rule> inactive_units_rule(std::vector<WatchedKind> kinds, const ActivityLimits& limits,
                                          InactiveWords words);

// threshold_inactivity, threshold_layer, unit, num_steps, min_samples and patience, to put behind a rule's own.
std::vector<RuleParameter> with_activity_limits(std::vector<RuleParameter> own);
ActivityLimits read_activity_limits(ParameterReader& read);

}  // namespace trainwarden::rules
