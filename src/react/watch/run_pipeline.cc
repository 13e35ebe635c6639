#include "react/watch/run_pipeline.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "react/watch/context_of_run.h"
#include "read/trial/trial_access.h"

namespace trainwarden::watch {

Result<std::unique_ptr<RunPipeline>> RunPipeline::open(Trial& trial, LedgerUse use) {
  std::unique_ptr<RunPipeline> pipeline(new RunPipeline(trial, use));
  TRAINWARDEN_RETURN_IF_ERROR(pipeline->open_ledger());
  pipeline->recorder_ = std::make_unique<events::Recorder>(trial, pipeline->storage(), *pipeline->ledger_);
  pipeline->events_before_ = pipeline->ledger_->last_seq();
  return pipeline;
}

RunPipeline::~RunPipeline() = default;

storage::Storage& RunPipeline::storage() const {
  return TrialAccess::location(trial_).storage();
}

Status RunPipeline::open_ledger() {
  const journal::RunInfo& run = TrialAccess::run_info(trial_);
  const bool ours = TrialAccess::check_writable(trial_, "a ledger of events").ok();
  if (use_ != LedgerUse::kMemory && (ours || use_ != LedgerUse::kKeepOrMemory)) {
    auto ledger = events::Ledger::open(storage(), system_clock(), run);
    if (ledger.ok()) {
      ledger_ = *std::move(ledger);
      return {};
    }
    is_kept_ = ledger.status().code() == Code::kAlreadyExists;
    const bool fatal = use_ == LedgerUse::kKeep || (use_ == LedgerUse::kKeepOrCopy && !is_kept_);
    if (fatal) return ledger.status();
    note_ = is_kept_ ? "another program records the events of this run; what follows here is not written down"
                     : "events are not kept: " + ledger.status().message();
  }
  ledger_ = events::Ledger::in_memory(system_clock(), run);
  return {};
}

actions::RunContext RunPipeline::context() {
  return context_of_run(
      trial_, [recorder = recorder_.get()](const format::RequestId& request) { return recorder->answer_to(request); });
}

Status RunPipeline::deliver(std::vector<delivery::Subscription> subscriptions, OnDelivery on_delivery) {
  if (is_kept_) leave_to_keeper(subscriptions);
  if (use_ == LedgerUse::kKeep || use_ == LedgerUse::kKeepOrCopy) TRAINWARDEN_RETURN_IF_ERROR(open_copy(subscriptions));
  delivery::CourierOptions options;
  options.run_name = TrialAccess::location(trial_).name();
  options.run = trial_.path();
  options.run_id = TrialAccess::identity(trial_);
  options.on_delivery = std::move(on_delivery);
  courier_ = std::make_unique<delivery::Courier>(copy_ ? copy_->ledger() : *ledger_, std::move(subscriptions),
                                                 std::move(options));
  return {};
}

// Who delivered beside a keeper goes on from its own memory, also when the ledger is free by now.
Status RunPipeline::open_copy(const std::vector<delivery::Subscription>& subscriptions) {
  std::vector<std::string> names;
  for (const delivery::Subscription& subscription : subscriptions) names.push_back(subscription.name);
  const storage::Location place = LedgerCopy::place_in(TrialAccess::location(trial_), names);
  if (names.empty() || (!is_kept_ && !place.storage().exists(""))) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(copy_, LedgerCopy::open(place, storage(), TrialAccess::run_info(trial_)));
  events_before_ = copy_->ledger().last_seq();
  following_ = is_kept_;
  return copy_->poll();
}

// A file that two processes were given is heeded by one of them.
void RunPipeline::leave_to_keeper(std::vector<delivery::Subscription>& subscriptions) {
  const auto kept = events::read_ledger(storage(), TrialAccess::run_info(trial_));
  if (!kept.ok()) return;
  for (const events::SubscribedRecord& theirs : kept->subscribed) {
    const auto removed = std::erase_if(subscriptions, [&](const delivery::Subscription& ours) {
      return !theirs.config.empty() && theirs.config == ours.config && theirs.subscription == ours.name;
    });
    if (removed > 0) left_to_keeper_.push_back(theirs.subscription);
  }
}

// Whether the ledger is kept is looked at before what is in it: what was written until then is taken in.
Status RunPipeline::poll() {
  TRAINWARDEN_RETURN_IF_ERROR(record());
  if (!copy_) return ledger_->status();
  const bool keeper_is_gone = copy_->keeper_is_gone();
  TRAINWARDEN_RETURN_IF_ERROR(copy_->poll());
  if (keeper_is_gone) following_ = false;
  return {};
}

bool RunPipeline::settle(std::chrono::milliseconds timeout, const std::stop_token& stop) {
  return courier_->settle(timeout, stop);
}

// What the recorder finds goes into a ledger in memory meanwhile; the keeper's may have more: how the program ended.
std::uint64_t RunPipeline::unrecorded() const {
  if (!following_ || ledger_->last_seq() <= copy_->ledger().last_seq()) return 0;
  return ledger_->last_seq() - copy_->ledger().last_seq();
}

}  // namespace trainwarden::watch
