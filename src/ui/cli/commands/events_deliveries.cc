// `trainwarden events deliveries`: what became of each event at each subscriber.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/events_command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/event_scope.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/event_view.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {
namespace {

struct DeliveriesOptions {
  EventScope place;
  std::string subscription;
  bool dead = false;
  bool json = false;
};

std::vector<views::DeliveryStanding> chosen_standings(const DeliveriesOptions& options, const views::EventLog& log) {
  std::vector<views::DeliveryStanding> chosen;
  for (views::DeliveryStanding& standing : log.standings()) {
    if (!options.subscription.empty() && standing.last.subscription != options.subscription) continue;
    if (options.dead && standing.last.state != events::DeliveryState::kDead) continue;
    chosen.push_back(std::move(standing));
  }
  return chosen;
}

// kNotFound with the nearest name when the run never had this subscription.
Status check_subscription(const std::string& subscription, const views::EventLog& log) {
  std::vector<std::string> names;
  for (const events::SubscribedRecord& subscribed : log.contents().subscribed) names.push_back(subscribed.subscription);
  if (subscription.empty() || std::find(names.begin(), names.end(), subscription) != names.end()) return {};
  return Status(Code::kNotFound, fmt::format("no subscription \"{}\" in this run{}", printable(subscription),
                                             did_you_mean(subscription, names)));
}

void print_as_json(OrderedJson document, const views::EventLog& log,
                   const std::vector<views::DeliveryStanding>& standings) {
  OrderedJson subscriptions = OrderedJson::array();
  for (const events::SubscribedRecord& subscribed : log.contents().subscribed)
    subscriptions.push_back(cli::json_of(subscribed));
  OrderedJson deliveries = OrderedJson::array();
  for (const views::DeliveryStanding& standing : standings) deliveries.push_back(json_of(standing));
  document.update({{"kept", log.kept()}, {"subscriptions", subscriptions}, {"deliveries", deliveries}});
  print_json(document);
}

void print_as_table(const DeliveriesOptions& options, const std::filesystem::path& run, const views::EventLog& log,
                    const std::vector<views::DeliveryStanding>& standings) {
  if (standings.empty()) {
    const std::size_t subscribed = log.contents().subscribed.size();
    emit("no {} in {}; it has {} subscription{}\n", options.dead ? "dead letters" : "deliveries",
         options.place.all_jobs ? run.parent_path().string() : run_name(run), subscribed, subscribed == 1 ? "" : "s");
    return;
  }
  emit("{}", Lines{delivery_table(standings, log)});
  const auto dead = std::count_if(standings.begin(), standings.end(), [](const views::DeliveryStanding& standing) {
    return standing.last.state == events::DeliveryState::kDead;
  });
  if (dead == 0) return;
  emit(
      "\n{0} dead {1}: `{2} events redrive {3}` has them tried anew, `{2} events drop {3}` gives them up for "
      "good\n",
      dead, dead == 1 ? "letter" : "letters", typed_program(), options.place.typed());
}

int act(const DeliveriesOptions& options) {
  const auto run = options.place.locate();
  if (!run.ok()) return report_error(run.status());
  const auto log = views::EventLog::open(*run);
  if (!log.ok()) return report_error(log.status());
  const Status known = check_subscription(options.subscription, **log);
  if (!known.ok()) return report_error(known);
  const auto standings = chosen_standings(options, **log);
  if (options.json) {
    print_as_json(options.place.head(*run), **log, standings);
  } else {
    print_as_table(options, *run, **log, standings);
  }
  return kExitFine;
}

}  // namespace

void add_events_deliveries(CLI::App& events, CommandAction& action) {
  auto options = std::make_shared<DeliveriesOptions>();
  DeliveriesOptions& o = *options;
  CLI::App& command =
      add_command(events, "deliveries", "What became of each event at each subscriber", options, action, act);
  add_event_scope(command, o.place);
  command.add_flag("--dead", o.dead, "Only dead letters: what was given up");
  command.add_option("--subscription", o.subscription, "Only this subscription's")->type_name("NAME");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden events deliveries first", "trainwarden events deliveries first --dead",
                         "trainwarden events deliveries first --subscription ops --json",
                         "trainwarden events deliveries --all-jobs --dead"});
}

}  // namespace trainwarden::cli
