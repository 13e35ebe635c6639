// Wiring: which rules and events lead to which actions, as the user wrote it in a TOML file or on the command line
// (docs/reference/actions.md).
//
//   [[on]]
//   rule = "VanishingGradient"         # or a list, or "*"; alerts of these rules
//   do = "stop"
//   grace = "30s"
//
//   [[on]]
//   name = "ops"
//   event = { data = { TrainingJobStatus = ["Failed", "Stopped"] } }    # or a pattern as JSON text
//   do = "webhook"
//   url = { env = "OPS_URL" }
//   secret = { file = "/run/secrets/ops" }
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actions/action_kind.h"
#include "delivery/subscription.h"
#include "trainwarden/status.h"

namespace trainwarden::delivery {

// One [[on]]: an action and what leads to it.
struct Wire {
  std::string name;                                           // "ops"; made of action and rules when the user gave none
  std::vector<std::string> rules;                             // alerts of rules with these ids; "*": of any
  std::string event;                                          // or a pattern, as JSON
  std::string action;                                         // "webhook"
  std::map<std::string, actions::ParameterValue> parameters;  // of the action, and of its delivery
  std::string where;  // for messages: "actions.toml, line 12", "--on-fire mail:..."
};

struct Wiring {
  std::vector<Wire> wires;
  std::string config;  // the file's absolute path; empty: the command line
};

// kNotFound, kInvalidArgument with file, line and what was expected. Tables such as [smtp] give the parameters that
// actions of that kind have in common ([mail], [webhook], ...: parameters for each wire whose action has that name).
Result<Wiring> read_wiring_file(const std::filesystem::path& file);
// "ACTION[:PARAMETER=VALUE,...]" as --on-fire takes it; `rule=A;B` and `event=PATTERN` say what leads to it, any rule
// when neither does. PARAMETER=env:NAME and PARAMETER=file:PATH name a secret's place.
Result<Wire> parse_wire(std::string_view text);

// Makes the subscriptions. kInvalidArgument with the wire's place: an unknown action or parameter (with the nearest
// known one), two of the same name, a pattern that is none. "skip-step" has no subscription: see skip_step_rules().
Result<std::vector<Subscription>> subscribe(const Wiring& wiring, std::span<const actions::ActionKind> kinds,
                                            const actions::RunContext& run);

// The rules of wires whose action is "skip-step", which judges inside the training and needs no delivery.
std::vector<std::string> skip_step_rules(const Wiring& wiring);

}  // namespace trainwarden::delivery
