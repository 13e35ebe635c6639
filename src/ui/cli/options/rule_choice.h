// RuleChoice: the options that say which rules judge, and of which verdicts the user has heard enough.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "judge/rules/engine.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// Parses and creates what --rule takes. kInvalidArgument names what is wrong.
Result<std::vector<rules::EngineRule>> create_rules(const std::vector<std::string>& specs);

// A set that has a name (judge/rules/rule_sets.h).
bool is_rule_set(std::string_view word);

struct RuleChoice {
  std::vector<std::string> rules;  // --rule: specs
  std::vector<std::string> sets;   // --rules: sets that have a name, or files with a spec a line
  std::vector<std::string> mute;   // --mute: keys of verdicts

  bool empty() const { return rules.empty() && sets.empty(); }
  // The specs that are meant, each once: a rule of a set that --rule names, too, is as --rule has it.
  Result<std::vector<std::string>> specs() const;
  // Parses and creates them. kInvalidArgument names what is wrong.
  Result<std::vector<rules::EngineRule>> create() const;
  // The same for a command that does nothing without a rule: kInvalidArgument when there is none.
  Result<std::vector<rules::EngineRule>> create_some() const;
};

void add_rule_choice(CLI::App& command, RuleChoice& choice);

}  // namespace trainwarden::cli
