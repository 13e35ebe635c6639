// Rules of the user's own, in Python files and shared objects, each in a process of its own (HostProcess).
//
//   my_rules.py:MyRule:threshold=3     a class or function of a Python file
//   ./my_rules.so:MyRule:threshold=3   a rule of a shared object (trainwarden/rule_abi.h)
//
// The name of the rule may be left out when the file has one only. Two parameters are the host's: host.time_limit,
// seconds for one step (10), and host.memory_limit, GiB resident (2). docs/guide/own-rules.md says what is asked and
// answered.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/hosting/host_process.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

// Whether a rule spec names a file.
bool names_rule_file(std::string_view spec);
// kInvalidArgument. The name is the rule's, or the file's when none is given.
Result<RuleSpec> parse_hosted_spec(std::string_view text);
bool is_hosted_spec(const RuleSpec& spec);

// Starts the process, which loads the file and makes the rule. kInvalidArgument: what it says of the file, the rule or
// a parameter. Otherwise as HostProcess::ask().
Result<std::unique_ptr<Rule>> create_hosted_rule(const RuleSpec& spec);
// The same with a process of one's own choice: for tests.
Result<std::unique_ptr<Rule>> create_hosted_rule(const RuleSpec& spec, std::vector<std::string> host);

}  // namespace trainwarden::rules
