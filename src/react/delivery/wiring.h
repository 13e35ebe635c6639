// Wiring: which rules and events lead to which actions, as the user wrote it in a TOML file or on the command line
// (docs/reference/actions.md).
//
//   [[on]]
//   rule = "VanishingGradient"         # or a list, or "*"; alerts of these rules
//   do = "stop"                        # or a list; the parameters then go to those that know them
//   grace = "30s"
//
//   [[on]]
//   name = "ops"
//   event = { data = { TrainingJobStatus = ["Failed", "Stopped"] } }    # or a pattern as JSON text
//   do = "webhook"
//   url = { env = "OPS_URL" }
//   secret = { file = "/run/secrets/ops" }
//   retry = { max_age = "1h" }
//
//   [webhook]                          # what all webhooks have in common
//   timeout = "5s"
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "react/actions/action_kind.h"
#include "react/delivery/subscription.h"
#include "trainwarden/status.h"

namespace trainwarden::delivery {

using Parameters = std::map<std::string, actions::ParameterValue>;

// One [[on]]: an action and what leads to it.
struct Wire {
  std::string name;                // "ops"; empty: made of action and rules
  std::vector<std::string> rules;  // alerts of rules with these ids; "*": of any
  std::string event;               // or a pattern, as JSON
  std::string action;              // "webhook"
  Parameters parameters;           // of the action, and of its delivery: "retry.max_age"
  std::string where;               // for messages: "actions.toml, line 12", "--on-fire mail"
  // The actions of the same [[on]] when there are several. A parameter that one of them knows is none of the others'
  // business.
  std::vector<std::string> together{};
};

// A table such as [mail]: parameters for each wire of the file whose action has that name; [delivery]: for each wire.
struct CommonParameters {
  std::string name;
  Parameters parameters;
  std::string where;
};

struct Wiring {
  std::vector<Wire> wires;
  std::string config;  // the file's absolute path; empty: the command line
  std::vector<CommonParameters> common{};
};

// kNotFound, kInvalidArgument with file, line and what was expected.
Result<Wiring> read_wiring_file(const std::filesystem::path& file);
// The same from the text of a file, which `file` only names.
Result<Wiring> parse_wiring(std::string_view toml, const std::filesystem::path& file);
// "ACTION[:PARAMETER=VALUE,...]" as --on-fire takes it; `rule=A;B` and `event=PATTERN` say what leads to it, any rule
// when neither does. PARAMETER=env:NAME and PARAMETER=file:PATH name a secret's place; a parameter that is there twice
// is a list.
Result<Wire> parse_wire(std::string_view text);

// Makes the subscriptions. kInvalidArgument with the wire's place: an unknown action or parameter (with the nearest
// known one), two of the same name, a pattern that is none, more than kMaxSubscriptions. "skip-step" has no
// subscription: see skip_step_rules().
Result<std::vector<Subscription>> subscribe(const Wiring& wiring, std::span<const actions::ActionKind> kinds,
                                            const actions::RunContext& run);

// Is this rule's id among the names, as [[on]] takes them: "*", "*Gradient", "vanishing_gradient"?
bool names_rule(std::span<const std::string> names, std::string_view rule_id);

// The rules of wires whose action is "skip-step", as they are named, which judges inside the training and needs no
// delivery.
std::vector<std::string> skip_step_rules(const Wiring& wiring);

}  // namespace trainwarden::delivery
