#include "ui/cli/running/run_delivery.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/rule_history.h"
#include "read/trial/trial_access.h"
#include "ui/cli/options/known_rules.h"
#include "ui/views/event_log.h"

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

RunDelivery::~RunDelivery() = default;

Result<std::unique_ptr<RunDelivery>> RunDelivery::start(const std::filesystem::path& run, ActionWiring wiring,
                                                        bool files_of_ledger, watch::OnDelivery on_delivery) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, Trial::open(run));
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial, "what became of its events"));
  std::unique_ptr<RunDelivery> delivery(new RunDelivery(std::move(trial)));
  const auto use = wiring.empty() ? watch::LedgerUse::kKeep : watch::LedgerUse::kKeepOrCopy;
  TRAINWARDEN_ASSIGN_OR_RETURN(delivery->pipeline_, watch::RunPipeline::open(*delivery->trial_, use));
  TRAINWARDEN_RETURN_IF_ERROR(delivery->poll());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> judged, judged_rules(run));
  TRAINWARDEN_RETURN_IF_ERROR(check_named_rules(wiring, judged));
  TRAINWARDEN_RETURN_IF_ERROR(delivery->begin(std::move(wiring), files_of_ledger, std::move(on_delivery)));
  return delivery;
}

Status RunDelivery::begin(ActionWiring wiring, bool files_of_ledger, watch::OnDelivery on_delivery) {
  if (files_of_ledger && !pipeline_->is_kept()) {
    std::vector<delivery::Wiring> files = this->files_of_ledger();
    wiring.parts.insert(wiring.parts.begin(), std::make_move_iterator(files.begin()),
                        std::make_move_iterator(files.end()));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(auto subscriptions, wiring.subscribe(pipeline_->context()));
  std::vector<std::string> names;
  for (const delivery::Subscription& subscription : subscriptions) names.push_back(subscription.name);
  TRAINWARDEN_RETURN_IF_ERROR(pipeline_->deliver(std::move(subscriptions), std::move(on_delivery)));
  note_left_to_keeper();
  const std::vector<std::string>& left = pipeline_->left_to_keeper();
  for (std::string& name : names) {
    if (std::find(left.begin(), left.end(), name) == left.end()) configured_.push_back(std::move(name));
  }
  subscriptions_ = configured_.size();
  return {};
}

void RunDelivery::note_left_to_keeper() {
  for (const std::string& name : pipeline_->left_to_keeper()) {
    notes_.emplace_back(Code::kAlreadyExists,
                        fmt::format("\"{}\" is left to the process that keeps the ledger of the run, "
                                    "which was given the same file",
                                    printable(name)));
  }
}

std::vector<delivery::Wiring> RunDelivery::files_of_ledger() {
  std::vector<delivery::Wiring> wirings;
  std::set<std::string> files;
  for (const events::SubscribedRecord& subscribed : pipeline_->source().subscribed()) {
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

Status RunDelivery::poll() {
  TRAINWARDEN_RETURN_IF_ERROR(trial_->refresh());
  return pipeline_->poll();
}

std::vector<Unconfigured> RunDelivery::unconfigured() const {
  std::vector<Unconfigured> unconfigured;
  for (const events::SubscribedRecord& subscribed : pipeline_->source().subscribed()) {
    if (std::find(configured_.begin(), configured_.end(), subscribed.subscription) != configured_.end()) continue;
    const auto standings = views::standings_of(pipeline_->source().deliveries(subscribed.subscription));
    const auto waiting = std::count_if(standings.begin(), standings.end(), [](const views::DeliveryStanding& standing) {
      return views::is_pending(standing.last.state);
    });
    if (waiting > 0) unconfigured.push_back({subscribed, static_cast<std::size_t>(waiting)});
  }
  return unconfigured;
}

}  // namespace trainwarden::cli
