// ActionChoice: the options that say what follows an event, and which actions there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "react/actions/action_kind.h"
#include "react/delivery/wiring.h"
#include "react/watch/run_watch.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// Those that need no network, and then those that do.
const std::vector<actions::ActionKind>& all_action_kinds();

// What an action file and the command line say together.
struct ActionWiring {
  std::vector<delivery::Wiring> parts;  // the file's first; a part that says nothing is left out

  bool empty() const { return parts.empty(); }
  bool leads_to(std::string_view action) const;      // "stop": there is a wire with this action
  bool asks_training() const;                        // there is one that writes a request into the run
  std::vector<std::string> skip_step_rules() const;  // delivery::skip_step_rules() of all parts
  // The subscriptions of all parts. kInvalidArgument as delivery::subscribe(), and when two parts have the same name.
  Result<std::vector<delivery::Subscription>> subscribe(const actions::RunContext& run) const;
  watch::Subscribe subscriber() const;  // the same as a function that lives on its own; null when there is nothing
};

// Whether the action "skip-step" may be asked for: only who starts a training can let rules judge inside it.
enum class SkipStep { kAllowed, kRefused };

struct ActionChoice {
  std::vector<std::string> on_fire;  // --on-fire: ACTION[:PARAMETER=VALUE,...], "report" for nothing
  std::string file;                  // --actions

  // Reads them and makes every action once, so that a mistake is reported before a training begins. kInvalidArgument
  // with the place of the mistake, kNotFound for a file, or a secret that cannot be read now.
  Result<ActionWiring> wiring(SkipStep skip_step) const;
};

void add_action_choice(CLI::App& command, ActionChoice& choice);

// Makes every action once for a run that is none, and throws it away.
Status check_wiring(const ActionWiring& wiring);

// The place of a secret that a wiring names, and whether it can be read now.
struct NamedSecret {
  std::string where;      // "actions.toml, line 12"
  std::string action;     // whose parameter it is, or that of the table that all of them have in common
  std::string parameter;  // "url"
  std::string place;      // "$OPS_URL"
  Status status;
};
std::vector<NamedSecret> secrets_of(const ActionWiring& wiring);
// kNotFound names the first that cannot be read now.
Status check_secrets(const ActionWiring& wiring);

}  // namespace trainwarden::cli
