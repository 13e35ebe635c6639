// What a program under watch is given of the rules that judge inside it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainwarden/guard.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// Words as --rule takes them, by where they judge.
struct RulePlaces {
  std::vector<std::string> inside;
  std::vector<std::string> beside;
};

// Rules that cannot judge inside the training judge beside it, and so do those that are not wanted inside: `wanted` are
// names of rules, or "*" for any. Of "default" each goes to its place. kInvalidArgument for a word that is no rule, and
// for a name that is wanted inside and cannot judge there.
Result<RulePlaces> divide_rules(const std::vector<std::string>& words, const std::vector<std::string>& wanted = {"*"});

// The variables with which the adapters install these rules when they open the hook (docs/reference/config.md). Empty
// without rules. kInvalidArgument: one that does not exist, or that cannot judge inside.
Result<std::map<std::string, std::string>> guard_environment(const std::vector<std::string>& inside, OnFire on_fire,
                                                             const std::vector<std::string>& mute = {});

}  // namespace trainwarden::cli
