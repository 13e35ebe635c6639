#include "cli/run_delivery.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/known_rules.h"
#include "cli/run_locator.h"
#include "rules/rule_history.h"
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

RunDelivery::RunDelivery(std::unique_ptr<Trial> trial, std::unique_ptr<events::Ledger> ledger, bool is_kept)
    : trial_(std::move(trial)),
      is_kept_(is_kept),
      ledger_(std::move(ledger)),
      recorder_(*trial_, storage(), *ledger_),
      events_before_(ledger_->last_seq()) {}

RunDelivery::~RunDelivery() = default;

Result<std::unique_ptr<RunDelivery>> RunDelivery::start(const std::filesystem::path& run, ActionWiring wiring,
                                                        bool files_of_ledger, OnDelivery on_delivery) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, Trial::open(run));
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial, "what became of its events"));
  const store::RunInfo& info = TrialAccess::run_info(*trial);
  auto ledger = events::Ledger::open(TrialAccess::location(*trial).storage(), system_clock(), info);
  const bool is_kept = ledger.status().code() == Code::kAlreadyExists && !wiring.empty();
  if (is_kept) ledger = events::Ledger::in_memory(system_clock(), info);
  TRAINWARDEN_RETURN_IF_ERROR(ledger.status());
  std::unique_ptr<RunDelivery> delivery(new RunDelivery(std::move(trial), std::move(ledger).value(), is_kept));
  TRAINWARDEN_RETURN_IF_ERROR(delivery->poll());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> judged, judged_rules(run));
  TRAINWARDEN_RETURN_IF_ERROR(check_named_rules(wiring, judged));
  TRAINWARDEN_RETURN_IF_ERROR(delivery->begin(std::move(wiring), files_of_ledger, std::move(on_delivery)));
  return delivery;
}

Status RunDelivery::begin(ActionWiring wiring, bool files_of_ledger, OnDelivery on_delivery) {
  if (files_of_ledger && !is_kept_) {
    std::vector<delivery::Wiring> files = this->files_of_ledger();
    wiring.parts.insert(wiring.parts.begin(), std::make_move_iterator(files.begin()),
                        std::make_move_iterator(files.end()));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(auto subscriptions, subscriptions_of(wiring));
  TRAINWARDEN_RETURN_IF_ERROR(choose_source(subscriptions));
  for (const delivery::Subscription& subscription : subscriptions) configured_.push_back(subscription.name);
  subscriptions_ = subscriptions.size();
  delivery::CourierOptions options;
  options.run_name = run_name(trial_->path());
  options.run = trial_->path();
  options.run_id = TrialAccess::identity(*trial_);
  options.on_delivery = std::move(on_delivery);
  courier_ = std::make_unique<delivery::Courier>(source(), std::move(subscriptions), std::move(options));
  return {};
}

// Who delivered beside a keeper goes on from his own memory, also when the ledger is free by now.
Status RunDelivery::choose_source(std::vector<delivery::Subscription>& subscriptions) {
  if (is_kept_) leave_to_keeper(subscriptions);
  std::vector<std::string> names;
  for (const delivery::Subscription& subscription : subscriptions) names.push_back(subscription.name);
  const storage::Location place = LedgerCopy::place_in(TrialAccess::location(*trial_), names);
  if (names.empty() || (!is_kept_ && !place.storage().exists(""))) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(copy_, LedgerCopy::open(place, storage(), TrialAccess::run_info(*trial_)));
  events_before_ = copy_->ledger().last_seq();
  following_ = is_kept_;
  return copy_->poll();
}

// A file that two processes were given is heeded by one of them.
void RunDelivery::leave_to_keeper(std::vector<delivery::Subscription>& subscriptions) {
  const auto kept = events::read_ledger(storage(), TrialAccess::run_info(*trial_));
  if (!kept.ok()) return;
  for (const events::SubscribedRecord& theirs : kept->subscribed) {
    const auto removed = std::erase_if(subscriptions, [&](const delivery::Subscription& ours) {
      return !theirs.config.empty() && theirs.config == ours.config && theirs.subscription == ours.name;
    });
    if (removed == 0) continue;
    notes_.emplace_back(Code::kAlreadyExists,
                        fmt::format("\"{}\" is left to the process that keeps the ledger of the run, "
                                    "which was given the same file",
                                    printable(theirs.subscription)));
  }
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

Result<std::vector<delivery::Subscription>> RunDelivery::subscriptions_of(const ActionWiring& wiring) {
  return wiring.subscribe(
      watch::context_of_run(*trial_, [this](std::string_view key) { return recorder_.answer_to(key); }));
}

// Whether the ledger is kept is looked at before what is in it: what was written until then is taken in.
Status RunDelivery::poll() {
  TRAINWARDEN_RETURN_IF_ERROR(trial_->refresh());
  TRAINWARDEN_RETURN_IF_ERROR(recorder_.poll());
  if (!copy_) return ledger_->status();
  const bool keeper_is_gone = copy_->keeper_is_gone();
  TRAINWARDEN_RETURN_IF_ERROR(copy_->poll());
  if (keeper_is_gone) following_ = false;
  return {};
}

// What the recorder finds goes into a ledger in memory meanwhile; the keeper's may have more: how the program ended.
std::uint64_t RunDelivery::unrecorded() const {
  if (!following_ || ledger_->last_seq() <= copy_->ledger().last_seq()) return 0;
  return ledger_->last_seq() - copy_->ledger().last_seq();
}

std::vector<Unconfigured> RunDelivery::unconfigured() const {
  std::vector<Unconfigured> unconfigured;
  for (const events::SubscribedRecord& subscribed : source().subscribed()) {
    if (std::find(configured_.begin(), configured_.end(), subscribed.subscription) != configured_.end()) continue;
    const auto standings = views::standings_of(source().deliveries(subscribed.subscription));
    const auto waiting = std::count_if(standings.begin(), standings.end(), [](const views::DeliveryStanding& standing) {
      return views::is_pending(standing.last.state);
    });
    if (waiting > 0) unconfigured.push_back({subscribed, static_cast<std::size_t>(waiting)});
  }
  return unconfigured;
}

}  // namespace trainwarden::cli
