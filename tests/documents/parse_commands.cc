// Reads command lines of `trainwarden` as JSON, one a line, and says what the program's own parser finds wrong with
// them. Nothing is run. For documents_test.py.
//
//   ["check", "first", "--rule", "Hang"]           a command as a user types it, without the program's name
//   {"command": ["run"], "options": ["--page"]}    of a synopsis: the sub-command has these options
//
// Answers with a line each: what is wrong, as a JSON text; "" when nothing is.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "react/delivery/wiring.h"
#include "trainwarden/rule.h"
#include "ui/cli/commands/all_commands.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/known_rules.h"

namespace trainwarden::cli {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// The sub-command that was parsed, with those beneath it.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

Words values_of(const CLI::App& command, const std::string& option) {
  const CLI::Option* const found = command.get_option_no_throw(option);
  return found == nullptr ? Words() : found->results();
}

Status check_actions(const Words& on_fire, const Words& own_rules) {
  ActionWiring wiring;
  for (const std::string& text : on_fire) {
    if (text == "report") continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wire wire, delivery::parse_wire(text));
    wiring.parts.push_back({{std::move(wire)}, {}});
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_wiring(wiring));
  return check_named_rules(wiring, own_rules);
}

// Rules and actions are texts to the parser, and understood when the command begins.
Status check_values(const CLI::App& command) {
  Words own_rules;
  for (const std::string& text : values_of(command, "--rule")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const RuleSpec spec, parse_rule_spec(text));
    own_rules.push_back(spec.name);
  }
  return check_actions(values_of(command, "--on-fire"), own_rules);
}

std::string wrong_with(Words words) {
  CLI::App app("", "trainwarden");
  CommandAction action;
  add_all_commands(app, action);
  app.set_version_flag("--version", "");
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::Success&) {
    return {};
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return check_values(innermost(app)).message();
}

std::string wrong_with_options(const Words& command, const Words& options) {
  CLI::App app("", "trainwarden");
  CommandAction action;
  add_all_commands(app, action);
  const CLI::App* found = &app;
  for (const std::string& word : command) {
    const auto named = found->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) return fmt::format("there is no command \"{}\"", word);
    found = named.front();
  }
  for (const std::string& option : options) {
    if (found->get_option_no_throw(option) == nullptr)
      return fmt::format("{} has no option {}", found->get_name(), option);
  }
  return {};
}

std::string answer(const Json& question) {
  if (question.is_array()) return wrong_with(question.get<Words>());
  return wrong_with_options(question.at("command"), question.at("options"));
}

}  // namespace
}  // namespace trainwarden::cli

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << nlohmann::json(trainwarden::cli::answer(nlohmann::json::parse(line))).dump() << "\n";
  }
  return 0;
}
