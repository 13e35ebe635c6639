#include "react/delivery/wiring.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "react/delivery/alert_pattern.h"
#include "react/delivery/delivery_parameters.h"
#include "react/events/event.h"
#include "react/match/matcher.h"

namespace trainwarden::delivery {
namespace {

constexpr std::string_view kSkipStep = "skip-step";
constexpr const char* kDelivery = "delivery";
constexpr const char* kSaveFirst = "save_first";
constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxMadeNameBytes = 60;

Status wrong(std::string_view where, std::string_view what) {
  return Status(Code::kInvalidArgument, fmt::format("{}: {}", where, what));
}

std::string checksum(std::string_view text) {
  return fmt::format("{:08x}", crc32c(as_bytes(text)));
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The same as long as action and rules are the same, wherever in the file they stand.
std::string made_name(const Wire& wire) {
  if (!wire.event.empty()) return fmt::format("{}-{}", wire.action, checksum(wire.event));
  if (contains(wire.rules, "*")) return wire.action;
  std::vector<std::string> rules = wire.rules;
  std::sort(rules.begin(), rules.end());
  std::string name = fmt::format("{}-{}", wire.action, printable(fmt::format("{}", fmt::join(rules, "-"))));
  if (name.size() > kMaxMadeNameBytes) name = fmt::format("{}-{}", wire.action, checksum(name));
  return name;
}

// Of the parameters' texts and the places of secrets.
std::string checksum(const Parameters& parameters) {
  std::string all;
  for (const auto& [name, value] : parameters) {
    const auto* texts = std::get_if<std::vector<std::string>>(&value);
    all += fmt::format(
        "{}={};", name,
        texts != nullptr ? fmt::format("{}", fmt::join(*texts, ",")) : std::get<actions::Secret>(value).describe());
  }
  return checksum(all);
}

class Subscriber {
 public:
  Subscriber(const Wiring& wiring, std::span<const actions::ActionKind> kinds, const actions::RunContext& run)
      : wiring_(wiring), kinds_(kinds), run_(run) {
    for (const actions::ActionKind& kind : kinds) action_names_.push_back(kind.name);
    action_names_.emplace_back(kSkipStep);
  }

  Result<std::vector<Subscription>> subscribe() {
    TRAINWARDEN_RETURN_IF_ERROR(check_common());
    TRAINWARDEN_RETURN_IF_ERROR(choose_names());
    std::vector<Subscription> subscriptions;
    for (std::size_t i = 0; i < wiring_.wires.size(); ++i) {
      const Wire& wire = wiring_.wires[i];
      if (wire.action == kSkipStep) {
        TRAINWARDEN_RETURN_IF_ERROR(check_skip_step(wire));
        continue;
      }
      TRAINWARDEN_ASSIGN_OR_RETURN(Subscription subscription, make(wire));
      subscription.name = names_[i];
      subscriptions.push_back(std::move(subscription));
      if (subscriptions.size() > kMaxSubscriptions) {
        return wrong(wire.where, fmt::format("expected at most {} actions for a run, as each has a thread of its own; "
                                             "let one action stand for several rules: rule = [\"A\", \"B\"]",
                                             kMaxSubscriptions));
      }
    }
    return subscriptions;
  }

 private:
  const actions::ActionKind* find_kind(std::string_view name) const {
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [name](const actions::ActionKind& kind) { return kind.name == name; });
    return found == kinds_.end() ? nullptr : &*found;
  }

  Status check_common() const {
    std::vector<std::string> names = action_names_;
    names.insert(names.end(), {kDelivery, "on"});
    for (const CommonParameters& common : wiring_.common) {
      if (contains(names, common.name)) continue;
      return wrong(common.where, fmt::format("expected the name of an action, or delivery{} (there are {})",
                                             did_you_mean(common.name, names), fmt::join(action_names_, ", ")));
    }
    return {};
  }

  Status check_action(const Wire& wire) const {
    if (contains(action_names_, wire.action)) return {};
    return wrong(wire.where, fmt::format("unknown action \"{}\"{} (there are {})", printable(wire.action),
                                         did_you_mean(wire.action, action_names_), fmt::join(action_names_, ", ")));
  }

  static Status check_skip_step(const Wire& wire) {
    if (!wire.event.empty()) {
      return wrong(wire.where,
                   "skip-step: expected rule, found event; it judges inside the training, before there is an event");
    }
    if (!wire.parameters.empty() && wire.together.empty()) {
      return wrong(wire.where, fmt::format("skip-step: unknown parameter \"{}\" (it has none)",
                                           printable(wire.parameters.begin()->first)));
    }
    return {};
  }

  // A name that the user gave, or one made of what the wire does. Those that would have the same one are told apart by
  // their parameters.
  Status choose_names() {
    std::map<std::string, std::size_t> made;
    for (const Wire& wire : wiring_.wires) {
      TRAINWARDEN_RETURN_IF_ERROR(check_action(wire));
      if (wire.name.empty()) ++made[made_name(wire)];
    }
    std::map<std::string, const Wire*> owners;
    for (const Wire& wire : wiring_.wires) {
      std::string name = wire.name.empty() ? made_name(wire) : wire.name;
      if (wire.name.empty() && made[name] > 1) name = fmt::format("{}-{}", name, checksum(wire.parameters));
      if (name.size() > kMaxNameBytes || printable(name) != name) {
        return wrong(wire.where, fmt::format("name: expected at most {} bytes that can be shown, found \"{}\"",
                                             kMaxNameBytes, printable(name)));
      }
      const auto [there, is_new] = owners.try_emplace(name, &wire);
      if (!is_new) {
        return wrong(wire.where, fmt::format("the name \"{}\" is that of {} already; give each a name of its own", name,
                                             there->second->where));
      }
      names_.push_back(std::move(name));
    }
    return {};
  }

  // Those of the wire, and for what it does not say those of its action's table, then of [delivery].
  Parameters all_parameters(const Wire& wire, const actions::ActionKind& kind) const {
    Parameters all;
    for (const auto& [name, value] : wire.parameters) {
      if (!is_of_another(wire, kind, name)) all.emplace(name, value);
    }
    for (const char* table : {wire.action.c_str(), kDelivery}) {
      for (const CommonParameters& common : wiring_.common) {
        if (common.name == table) all.insert(common.parameters.begin(), common.parameters.end());
      }
    }
    // Each action has a thread of its own, and a training that has stopped saves no more.
    const bool saves = contains(wire.together, "save") && knows(kind, kSaveFirst);
    if (saves) all.try_emplace(kSaveFirst, std::vector<std::string>{"true"});
    return all;
  }

  static bool knows(const actions::ActionKind& kind, std::string_view parameter) {
    return std::any_of(kind.parameters.begin(), kind.parameters.end(),
                       [parameter](const actions::ActionParameterDescription& one) { return one.name == parameter; });
  }

  bool is_of_another(const Wire& wire, const actions::ActionKind& kind, const std::string& parameter) const {
    if (knows(kind, parameter)) return false;
    return std::any_of(wire.together.begin(), wire.together.end(), [&](const std::string& other) {
      const actions::ActionKind* const other_kind = find_kind(other);
      return other_kind != nullptr && knows(*other_kind, parameter);
    });
  }

  Result<Subscription> make(const Wire& wire) const {
    const actions::ActionKind& kind = *find_kind(wire.action);
    actions::ActionParameters parameters(all_parameters(wire, kind));
    const DeliveryParameters delivery = take_delivery_parameters(parameters);
    auto action = kind.create(parameters, run_);
    const std::string context = fmt::format("{}: {}", wire.where, wire.action);
    TRAINWARDEN_RETURN_IF_ERROR(parameters.status().with_context(context));
    if (!action.ok()) return action.status().with_context(context);
    auto pattern = match::Pattern::parse(wire.event.empty() ? alert_pattern(wire.rules, delivery.format) : wire.event);
    if (!pattern.ok()) return pattern.status().with_context(fmt::format("{}: event", wire.where));
    return Subscription{.name = {},
                        .pattern = *std::move(pattern),
                        .format = delivery.format,
                        .action = *std::move(action),
                        .retry = delivery.retry,
                        .cool_down = delivery.cool_down,
                        .from_now = delivery.from_now,
                        .config = wiring_.config};
  }

  const Wiring& wiring_;
  std::span<const actions::ActionKind> kinds_;
  const actions::RunContext& run_;
  std::vector<std::string> action_names_;
  std::vector<std::string> names_;  // of each wire
};

}  // namespace

Result<std::vector<Subscription>> subscribe(const Wiring& wiring, std::span<const actions::ActionKind> kinds,
                                            const actions::RunContext& run) {
  return Subscriber(wiring, kinds, run).subscribe();
}

bool names_rule(std::span<const std::string> names, std::string_view rule_id) {
  const auto pattern = match::Pattern::parse(alert_pattern(names, EventFormat::kCloudEvents));
  if (!pattern.ok()) return false;  // reported where the wiring is read
  const auto matches = match::matches(
      *pattern, format::dump_json({{"type", events::kAlertType}, {"data", {{"change", {{"rule", rule_id}}}}}}));
  return matches.ok() && *matches;
}

std::vector<std::string> skip_step_rules(const Wiring& wiring) {
  std::vector<std::string> rules;
  for (const Wire& wire : wiring.wires) {
    if (wire.action == kSkipStep) rules.insert(rules.end(), wire.rules.begin(), wire.rules.end());
  }
  return rules;
}

}  // namespace trainwarden::delivery
