// Sets of rules that have a name: `--rules default`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::rules {

// "default": those that suit nearly every training. "profiler": where the time goes. "sagemaker": those that SageMaker
// Debugger documents and that need nothing to be given, at its thresholds. As specs; nothing for other words.
std::optional<std::vector<std::string>> rule_set(std::string_view name);
inline constexpr std::string_view kRuleSets = "\"default\", \"sagemaker\", \"profiler\"";

}  // namespace trainwarden::rules
