// The two parameters with which rules about any tensor choose what they judge.
#pragma once

#include <string_view>
#include <vector>

#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// collection_names and tensor_regex, to put before a rule's own.
std::vector<RuleParameter> with_selection(std::vector<RuleParameter> own, std::string_view when_neither = {});

TensorSelection read_selection(ParameterReader& read);

// kInvalidArgument when nothing is chosen. `example`: a collection that people might mean.
Status check_chosen(const TensorSelection& selection, std::string_view example = "weights");

}  // namespace trainwarden::rules
