#include "ui/cli/reports/wiring_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/format/parse_json.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

std::string wiring_duration(std::chrono::milliseconds duration) {
  return format_duration_ns(duration.count() * kNsPerMs);
}

const char* format_name(delivery::EventFormat format) {
  return format == delivery::EventFormat::kEventBridge ? "eventbridge" : "cloudevents";
}

// What is not as when nothing was said.
std::string delivery_text(const delivery::Subscription& subscription) {
  const delivery::RetryPolicy usual;
  const delivery::RetryPolicy& retry = subscription.retry;
  std::vector<std::string> parts;
  if (subscription.format != delivery::EventFormat::kCloudEvents) parts.emplace_back(format_name(subscription.format));
  if (subscription.from_now) parts.emplace_back("since now");
  if (subscription.cool_down.count() > 0) parts.push_back("cool-down " + wiring_duration(subscription.cool_down));
  if (retry.max_attempts != usual.max_attempts) parts.push_back(fmt::format("{} attempts", retry.max_attempts));
  if (retry.max_age != usual.max_age) parts.push_back("for " + wiring_duration(retry.max_age));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<WiredAction> wired_actions(const ActionWiring& wiring,
                                       const std::vector<delivery::Subscription>& subscriptions) {
  std::vector<WiredAction> all;
  auto subscription = subscriptions.begin();
  for (const delivery::Wiring& part : wiring.parts) {
    for (const delivery::Wire& wire : part.wires) {
      // Subscriptions come in the order of the wires that make one.
      const bool delivers = subscription != subscriptions.end() && subscription->action->name() == wire.action;
      all.push_back({&wire, delivers ? &*subscription++ : nullptr});
    }
  }
  return all;
}

std::string condition_text(const delivery::Wire& wire) {
  if (!wire.event.empty()) return printable(wire.event);
  if (std::find(wire.rules.begin(), wire.rules.end(), "*") != wire.rules.end()) return "any rule";
  return printable(fmt::format("{}", fmt::join(wire.rules, ", ")));
}

std::string wiring_table(const std::vector<WiredAction>& actions) {
  Table table({{"NAME"}, {"ACTION"}, {"PLACE"}, {"DELIVERY"}, {"WHEN"}});
  for (const WiredAction& action : actions) {
    const delivery::Subscription* const subscription = action.subscription;
    const std::string condition = condition_text(*action.wire);
    if (subscription == nullptr) {
      table.add_row({"-", action.wire->action, "inside the training", "-", condition});
    } else {
      table.add_row({subscription->name, std::string(subscription->action->name()), subscription->action->place(),
                     delivery_text(*subscription), condition});
    }
  }
  return table.to_string();
}

std::string secret_table(const std::vector<NamedSecret>& secrets) {
  Table table({{"SECRET"}, {"OF"}, {"PLACE"}, {"NOW"}});
  for (const NamedSecret& secret : secrets) {
    table.add_row({secret.parameter, fmt::format("{} ({})", secret.action, secret.where), secret.place,
                   secret.status.ok() ? "can be read" : secret.status.message()});
  }
  return table.to_string();
}

OrderedJson json_of(const WiredAction& action) {
  const delivery::Wire& wire = *action.wire;
  std::vector<std::string> parameters;
  for (const auto& [name, value] : wire.parameters) parameters.push_back(name);
  OrderedJson json = {
      {"name", wire.name},
      {"action", wire.action},
      {"where", wire.where},
      {"rules", wire.rules},
      {"event", wire.event.empty() ? OrderedJson() : format::parse_ordered_json(wire.event, "event").value_or({})},
      {"parameters", parameters}};
  if (action.subscription == nullptr) return json;
  const delivery::Subscription& subscription = *action.subscription;
  json["name"] = subscription.name;
  json["place"] = subscription.action->place();
  json["format"] = format_name(subscription.format);
  json["since"] = subscription.from_now ? "now" : "start";
  json["cool_down_ms"] = subscription.cool_down.count();
  json["retry"] = {{"first_delay_ms", subscription.retry.first_delay.count()},
                   {"longest_delay_ms", subscription.retry.longest_delay.count()},
                   {"max_attempts", subscription.retry.max_attempts},
                   {"max_age_ms", subscription.retry.max_age.count()}};
  return json;
}

OrderedJson json_of(const NamedSecret& secret) {
  return {{"where", secret.where}, {"action", secret.action},        {"parameter", secret.parameter},
          {"place", secret.place}, {"readable", secret.status.ok()}, {"problem", secret.status.message()}};
}

}  // namespace trainwarden::cli
