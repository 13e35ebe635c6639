#include "cli/run_delivery.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/clock.h"
#include "cli/known_rules.h"
#include "cli/run_locator.h"
#include "rules/rule_history.h"
#include "storage/local_storage.h"
#include "trial/trial_access.h"
#include "views/event_log.h"
#include "watch/context_of_run.h"

namespace trainwarden::cli {
namespace {

// The ids of the rules that have judged the run, which may be of the user's own.
Result<std::vector<std::string>> judged_rules(const std::filesystem::path& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto histories, rules::read_rule_histories(run));
  std::vector<std::string> ids;
  for (const rules::RuleHistory& history : histories) ids.push_back(history.status.rule_id);
  return ids;
}

}  // namespace

RunDelivery::RunDelivery(std::unique_ptr<storage::Storage> storage, std::unique_ptr<Trial> trial,
                         std::unique_ptr<events::Ledger> ledger)
    : storage_(std::move(storage)),
      trial_(std::move(trial)),
      ledger_(std::move(ledger)),
      recorder_(*trial_, *storage_, *ledger_),
      events_before_(ledger_->last_seq()) {}

RunDelivery::~RunDelivery() = default;

Result<std::unique_ptr<RunDelivery>> RunDelivery::start(const std::filesystem::path& run, ActionWiring wiring,
                                                        bool files_of_ledger, OnDelivery on_delivery) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, Trial::open(run));
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial, "what became of its events"));
  auto storage = storage::open_local_storage(run);
  TRAINWARDEN_ASSIGN_OR_RETURN(auto ledger,
                               events::Ledger::open(*storage, system_clock(), TrialAccess::run_info(*trial)));
  std::unique_ptr<RunDelivery> delivery(new RunDelivery(std::move(storage), std::move(trial), std::move(ledger)));
  TRAINWARDEN_RETURN_IF_ERROR(delivery->poll());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> judged, judged_rules(run));
  TRAINWARDEN_RETURN_IF_ERROR(check_named_rules(wiring, judged));
  if (files_of_ledger) {
    std::vector<delivery::Wiring> files = delivery->files_of_ledger();
    wiring.parts.insert(wiring.parts.begin(), std::make_move_iterator(files.begin()),
                        std::make_move_iterator(files.end()));
  }
  TRAINWARDEN_RETURN_IF_ERROR(delivery->subscribe(wiring, std::move(on_delivery)));
  return delivery;
}

std::vector<delivery::Wiring> RunDelivery::files_of_ledger() {
  std::vector<delivery::Wiring> wirings;
  std::set<std::string> files;
  for (const events::SubscribedRecord& subscribed : ledger_->subscribed()) {
    if (!subscribed.config.empty()) files.insert(subscribed.config);
  }
  for (const std::string& file : files) {
    auto of_file = delivery::read_wiring_file(file);
    if (of_file.ok()) {
      wirings.push_back(std::move(of_file).value());
    } else {
      notes_.push_back(of_file.status());
    }
  }
  return wirings;
}

Status RunDelivery::subscribe(const ActionWiring& wiring, OnDelivery on_delivery) {
  const actions::RunContext context =
      watch::context_of_run(*trial_, *storage_, [this](std::string_view key) { return recorder_.answer_to(key); });
  TRAINWARDEN_ASSIGN_OR_RETURN(auto subscriptions, wiring.subscribe(context));
  for (const delivery::Subscription& subscription : subscriptions) configured_.push_back(subscription.name);
  subscriptions_ = subscriptions.size();
  delivery::CourierOptions options;
  options.run_name = context.name;
  options.run = context.path;
  options.run_id = context.run_id;
  options.on_delivery = std::move(on_delivery);
  courier_ = std::make_unique<delivery::Courier>(*ledger_, std::move(subscriptions), std::move(options));
  return {};
}

Status RunDelivery::poll() {
  TRAINWARDEN_RETURN_IF_ERROR(trial_->refresh());
  TRAINWARDEN_RETURN_IF_ERROR(recorder_.poll());
  return ledger_->status();
}

std::vector<Unconfigured> RunDelivery::unconfigured() const {
  std::vector<Unconfigured> unconfigured;
  for (const events::SubscribedRecord& subscribed : ledger_->subscribed()) {
    if (std::find(configured_.begin(), configured_.end(), subscribed.subscription) != configured_.end()) continue;
    const auto standings = views::standings_of(ledger_->deliveries(subscribed.subscription));
    const auto waiting = std::count_if(standings.begin(), standings.end(), [](const views::DeliveryStanding& standing) {
      return views::is_pending(standing.last.state);
    });
    if (waiting > 0) unconfigured.push_back({subscribed, static_cast<std::size_t>(waiting)});
  }
  return unconfigured;
}

}  // namespace trainwarden::cli
