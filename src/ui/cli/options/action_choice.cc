#include "ui/cli/options/action_choice.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "core/base/text.h"
#include "react/network/network_actions.h"
#include "store/storage/memory_storage.h"
#include "ui/cli/options/words_option.h"

namespace trainwarden::cli {
namespace {

constexpr std::string_view kReport = "report";
constexpr std::string_view kSkipStep = "skip-step";

// "on-fire-stop", whichever rules it is for: a name that people can read, and that is the same the next time. Several
// of one action are told apart by what they do.
void name_wires(std::vector<delivery::Wire>& wires) {
  std::map<std::string, int> seen;
  for (const delivery::Wire& wire : wires) ++seen[wire.action];
  for (delivery::Wire& wire : wires) {
    if (wire.name.empty() && seen[wire.action] == 1) wire.name = "on-fire-" + wire.action;
  }
}

Result<delivery::Wiring> wiring_of_command_line(const std::vector<std::string>& on_fire) {
  delivery::Wiring wiring;
  for (const std::string& text : on_fire) {
    if (text == kReport) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wire wire, delivery::parse_wire(text));
    wiring.wires.push_back(std::move(wire));
  }
  name_wires(wiring.wires);
  return wiring;
}

Status refuse_skip_step(const ActionWiring& wiring) {
  for (const delivery::Wiring& part : wiring.parts) {
    for (const delivery::Wire& wire : part.wires) {
      if (wire.action != kSkipStep) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: skip-step needs rules inside the training: start it with `trainwarden run "
                                "--on-fire skip-step -- PROGRAM`",
                                printable(wire.where)));
    }
  }
  return {};
}

}  // namespace

const std::vector<actions::ActionKind>& all_action_kinds() {
  static const std::vector<actions::ActionKind> kinds = [] {
    std::vector<actions::ActionKind> all = actions::local_action_kinds();
    const auto& network = network::network_action_kinds();
    all.insert(all.end(), network.begin(), network.end());
    return all;
  }();
  return kinds;
}

bool ActionWiring::leads_to(std::string_view action) const {
  return std::any_of(parts.begin(), parts.end(), [action](const delivery::Wiring& part) {
    return std::any_of(part.wires.begin(), part.wires.end(),
                       [action](const delivery::Wire& wire) { return wire.action == action; });
  });
}

bool ActionWiring::asks_training() const {
  return leads_to("stop") || leads_to("save") || leads_to("black-box") || leads_to("profile");
}

std::vector<std::string> ActionWiring::skip_step_rules() const {
  std::vector<std::string> rules;
  for (const delivery::Wiring& part : parts) {
    const auto of_part = delivery::skip_step_rules(part);
    rules.insert(rules.end(), of_part.begin(), of_part.end());
  }
  return rules;
}

Result<std::vector<delivery::Subscription>> ActionWiring::subscribe(const actions::RunContext& run) const {
  std::vector<delivery::Subscription> all;
  std::set<std::string> names;
  for (const delivery::Wiring& part : parts) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto of_part, delivery::subscribe(part, all_action_kinds(), run));
    for (const delivery::Subscription& subscription : of_part) {
      if (names.insert(subscription.name).second) continue;
      return Status(
          Code::kInvalidArgument,
          fmt::format("two subscriptions have the name \"{}\"; give one of them a name of its own: name=NAME on the "
                      "command line, name = \"NAME\" in a file",
                      printable(subscription.name)));
    }
    std::move(of_part.begin(), of_part.end(), std::back_inserter(all));
  }
  if (all.size() > delivery::kMaxSubscriptions) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected at most {} actions for a run, as each has a thread of its "
                              "own; the file and --on-fire have {} together",
                              delivery::kMaxSubscriptions, all.size()));
  }
  return all;
}

watch::Subscribe ActionWiring::subscriber() const {
  if (empty()) return nullptr;
  return [wiring = *this](const actions::RunContext& run) { return wiring.subscribe(run); };
}

Status check_wiring(const ActionWiring& wiring) {
  const auto storage = storage::create_memory_storage();
  actions::RunContext nowhere;
  nowhere.name = "check";
  nowhere.path = "check";
  nowhere.storage = storage.get();
  return wiring.subscribe(nowhere).status();
}

std::vector<NamedSecret> secrets_of(const ActionWiring& wiring) {
  std::vector<NamedSecret> secrets;
  const auto take = [&secrets](const std::string& where, const std::string& action,
                               const delivery::Parameters& parameters) {
    for (const auto& [name, value] : parameters) {
      const auto* secret = std::get_if<actions::Secret>(&value);
      if (secret != nullptr) secrets.push_back({where, action, name, secret->describe(), secret->read().status()});
    }
  };
  for (const delivery::Wiring& part : wiring.parts) {
    for (const delivery::Wire& wire : part.wires) take(wire.where, wire.action, wire.parameters);
    for (const delivery::CommonParameters& common : part.common) take(common.where, common.name, common.parameters);
  }
  return secrets;
}

Status check_secrets(const ActionWiring& wiring) {
  for (const NamedSecret& secret : secrets_of(wiring)) {
    if (secret.status.ok()) continue;
    return secret.status.with_context(fmt::format("{}: {}: {}", secret.where, secret.action, secret.parameter));
  }
  return {};
}

Result<ActionWiring> ActionChoice::wiring(SkipStep skip_step) const {
  ActionWiring wiring;
  if (!file.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wiring of_file, delivery::read_wiring_file(file));
    wiring.parts.push_back(std::move(of_file));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wiring typed, wiring_of_command_line(on_fire));
  if (!typed.wires.empty()) wiring.parts.push_back(std::move(typed));
  if (skip_step == SkipStep::kRefused) TRAINWARDEN_RETURN_IF_ERROR(refuse_skip_step(wiring));
  TRAINWARDEN_RETURN_IF_ERROR(check_wiring(wiring));
  TRAINWARDEN_RETURN_IF_ERROR(check_secrets(wiring));
  return wiring;
}

void add_action_choice(CLI::App& command, ActionChoice& choice) {
  add_words(command, "--on-fire", choice.on_fire,
            "What to do when a rule fires, ACTION[:PARAMETER=VALUE,...]; several times for several "
            "(default: report; `trainwarden actions` lists them)")
      ->type_name("ACTION");
  command.add_option("--actions", choice.file, "Which rules and events lead to which actions: a TOML file")
      ->type_name("FILE");
}

}  // namespace trainwarden::cli
