// What every rule that comes with Trainwarden takes, as those of SageMaker Debugger do through their invoker: the steps
// that it judges, and the name of the run, which says nothing here. Ours: what its verdicts mean to a diagnosis.
#pragma once

#include <memory>
#include <vector>

#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

inline constexpr const char* kCauseParameter = "cause";

// start_step, end_step, base_trial and cause. A rule that has one of the same name means its own.
const std::vector<RuleParameter>& common_parameters();

// kInvalidArgument when a cause is given that no diagnosis knows.
Status check_cause(const RuleParameters& parameters);

// Creates the rule; one that is given a range judges no step outside of it. kInvalidArgument for a bad value.
// `parameters` has every parameter of the kind, and the common ones as they were given.
Result<std::unique_ptr<Rule>> create_ranged_rule(const RuleKind& kind, RuleParameters parameters);

}  // namespace trainwarden::rules
