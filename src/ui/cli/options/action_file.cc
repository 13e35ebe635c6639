#include "ui/cli/options/action_file.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "store/storage/memory_storage.h"
#include "ui/cli/commands/example_alert.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/known_rules.h"
#include "ui/cli/reports/wiring_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

// A file's wiring, and its subscriptions for a run that is none.
struct LoadedFile {
  ActionWiring wiring;
  std::unique_ptr<storage::MemoryStorage> storage = storage::create_memory_storage();
  std::vector<delivery::Subscription> subscriptions;
};

// What rules with these specs are called.
Result<std::vector<std::string>> rule_names(const std::vector<std::string>& specs) {
  std::vector<std::string> names;
  for (const std::string& text : specs) {
    TRAINWARDEN_ASSIGN_OR_RETURN(RuleSpec spec, parse_rule_spec(text));
    names.push_back(std::move(spec.name));
  }
  return names;
}

// `run`: what the places of actions that act on the run are called.
Result<LoadedFile> load(const std::string& file, const std::vector<std::string>& own_rules, const std::string& run) {
  LoadedFile loaded;
  TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wiring wiring, delivery::read_wiring_file(file));
  loaded.wiring.parts.push_back(std::move(wiring));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> own, rule_names(own_rules));
  TRAINWARDEN_RETURN_IF_ERROR(check_named_rules(loaded.wiring, own));
  actions::RunContext context;
  context.name = run;
  context.path = run;
  context.storage = loaded.storage.get();
  TRAINWARDEN_ASSIGN_OR_RETURN(loaded.subscriptions, loaded.wiring.subscribe(context));
  return loaded;
}

}  // namespace

int check_action_file(const std::string& file, const std::vector<std::string>& own_rules, bool as_json) {
  const auto loaded = load(file, own_rules, "the run");
  if (!loaded.ok()) return report_error(loaded.status());
  const auto actions = wired_actions(loaded->wiring, loaded->subscriptions);
  const auto secrets = secrets_of(loaded->wiring);
  if (as_json) {
    OrderedJson list = OrderedJson::array();
    for (const WiredAction& action : actions) list.push_back(json_of(action));
    OrderedJson places = OrderedJson::array();
    for (const NamedSecret& secret : secrets) places.push_back(json_of(secret));
    print_json({{"file", file}, {"on", list}, {"secrets", places}});
  } else if (actions.empty()) {
    emit("{} leads to no action: it has no [[on]]\n", file);
  } else {
    emit("{}", Lines{wiring_table(actions)});
    if (!secrets.empty()) emit("\n{}", Lines{secret_table(secrets)});
  }
  const bool all_readable =
      std::all_of(secrets.begin(), secrets.end(), [](const NamedSecret& secret) { return secret.status.ok(); });
  return all_readable ? kExitFine : kExitFailed;
}

namespace {

// What acts on a training cannot be tried without one.
bool can_be_tested(const delivery::Subscription& subscription) {
  const std::string_view action = subscription.action->name();
  return action != "stop" && action != "save" && action != "black-box" && action != "profile";
}

// The rule that the test alert speaks of: one that leads to this action.
std::string tested_rule(const delivery::Wire& wire) {
  const bool any = wire.rules.empty() || wire.rules.front() == "*";
  return any ? "VanishingGradient" : wire.rules.front();
}

struct Tested {
  const delivery::Subscription* subscription;
  actions::ActionOutcome outcome;
};

// Sends while it goes: one that hangs shows.
std::vector<Tested> send_tests(const LoadedFile& loaded, const std::string& name, bool as_json) {
  std::vector<Tested> tested;
  for (const WiredAction& wired : wired_actions(loaded.wiring, loaded.subscriptions)) {
    const delivery::Subscription* const subscription = wired.subscription;
    if (subscription == nullptr || !can_be_tested(*subscription)) continue;
    if (!name.empty() && subscription->name != name) continue;
    const events::Event alert = example_alert(tested_rule(*wired.wire), system_clock().unix_ns());
    tested.push_back({subscription, subscription->action->run(example_notice(alert, *subscription), {})});
    if (as_json) continue;
    emit("{}\n", outcome_line(*subscription, tested.back().outcome));
    std::fflush(stdout);
  }
  return tested;
}

OrderedJson json_of(const Tested& tested) {
  return {{"name", tested.subscription->name},
          {"action", tested.subscription->action->name()},
          {"place", tested.subscription->action->place()},
          {"outcome", outcome_name(tested.outcome)},
          {"answer", tested.outcome.answer},
          {"message", tested.outcome.status.message()}};
}

Status nothing_to_test(const LoadedFile& loaded, const std::string& file, const std::string& name) {
  std::vector<std::string> names;
  for (const delivery::Subscription& subscription : loaded.subscriptions) {
    if (can_be_tested(subscription)) names.push_back(subscription.name);
  }
  if (names.empty()) {
    return Status(Code::kNotFound,
                  fmt::format("{} has no action that can be tested: stop, save, black-box, profile and "
                              "skip-step need a training",
                              printable(file)));
  }
  return Status(Code::kNotFound, fmt::format("{} has no subscription \"{}\" that can be tested{} (there are {})",
                                             printable(file), printable(name), did_you_mean(name, names),
                                             printable(fmt::format("{}", fmt::join(names, ", ")))));
}

}  // namespace

std::string_view outcome_name(const actions::ActionOutcome& outcome) {
  switch (outcome.kind) {
    case actions::ActionOutcome::Kind::kDone: return "delivered";
    case actions::ActionOutcome::Kind::kTryAgain: return "would be tried again";
    case actions::ActionOutcome::Kind::kGiveUp: return "would be given up";
    case actions::ActionOutcome::Kind::kTargetGone: return "target gone";
  }
  return "";
}

std::string outcome_line(const delivery::Subscription& subscription, const actions::ActionOutcome& outcome) {
  return fmt::format("{} ({} {}): {}{}{}{}{}", subscription.name, subscription.action->name(),
                     subscription.action->place(), outcome_name(outcome), outcome.answer.empty() ? "" : ", ",
                     outcome.answer, outcome.status.ok() ? "" : ": ", outcome.status.message());
}

int test_action_file(const std::string& file, const std::string& name, const std::vector<std::string>& own_rules,
                     bool as_json) {
  const auto loaded = load(file, own_rules, kExampleRun);
  if (!loaded.ok()) return report_error(loaded.status());
  const std::vector<Tested> tested = send_tests(*loaded, name, as_json);
  if (tested.empty()) return report_error(nothing_to_test(*loaded, file, name));
  if (as_json) {
    OrderedJson list = OrderedJson::array();
    for (const Tested& one : tested) list.push_back(json_of(one));
    print_json({{"file", file}, {"tested", list}});
  }
  const bool all_done = std::all_of(tested.begin(), tested.end(), [](const Tested& one) {
    return one.outcome.kind == actions::ActionOutcome::Kind::kDone;
  });
  return all_done ? kExitFine : kExitFailed;
}

}  // namespace trainwarden::cli
