// RunDelivery: delivers the events of one run outside of any watch. Where nobody keeps the run's ledger it takes that,
// and records what was missed; beside a process that does, it delivers from a copy (LedgerCopy), and what the other
// delivers is left to the other.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/action_choice.h"
#include "cli/ledger_copy.h"
#include "delivery/courier.h"
#include "events/ledger.h"
#include "events/recorder.h"
#include "storage/storage.h"
#include "trainwarden/trial.h"
#include "trial/trial_access.h"

namespace trainwarden::cli {

// A subscription of which events wait, and which nobody here configures.
struct Unconfigured {
  events::SubscribedRecord subscribed;
  std::size_t waiting = 0;
};

// One thread at a time.
class RunDelivery {
 public:
  using OnDelivery = std::function<void(const events::DeliveryRecord&, const events::Event&)>;

  // Begins at once. `wiring`: what to deliver to; with `files_of_ledger` also to what the configuration files say that
  // the ledger names, when nobody keeps it.
  // kAlreadyExists when another process keeps the ledger and `wiring` has nothing for us, or delivers the same;
  // kFailedPrecondition for a run of smdebug's, and errors of the wiring. `on_delivery` is called from other threads,
  // one at a time.
  static Result<std::unique_ptr<RunDelivery>> start(const std::filesystem::path& run, ActionWiring wiring,
                                                    bool files_of_ledger, OnDelivery on_delivery);
  ~RunDelivery();
  RunDelivery(const RunDelivery&) = delete;
  RunDelivery& operator=(const RunDelivery&) = delete;

  // Takes in what has changed in the run. The status is the trial's or the ledger's.
  Status poll();
  delivery::Backlog backlog() const { return courier_->backlog(); }
  void stop() { courier_->stop(); }
  // More events may come: another process keeps the ledger, and we follow.
  bool follows() const { return following_; }

  std::uint64_t events() const { return source().last_seq(); }
  std::uint64_t recorded() const { return source().last_seq() - events_before_; }  // by this object
  // Changes of the run that the process that keeps the ledger has not recorded yet, so that nobody can deliver them.
  std::uint64_t unrecorded() const;
  std::size_t subscriptions() const { return subscriptions_; }
  std::vector<Unconfigured> unconfigured() const;
  // Why a configuration file that the ledger names says nothing.
  const std::vector<Status>& notes() const { return notes_; }

 private:
  RunDelivery(std::unique_ptr<Trial> trial, std::unique_ptr<events::Ledger> ledger, bool is_kept);
  storage::Storage& storage() const { return TrialAccess::location(*trial_).storage(); }
  Status begin(ActionWiring wiring, bool files_of_ledger, OnDelivery on_delivery);
  Status choose_source(std::vector<delivery::Subscription>& subscriptions);
  void leave_to_keeper(std::vector<delivery::Subscription>& subscriptions);
  Result<std::vector<delivery::Subscription>> subscriptions_of(const ActionWiring& wiring);
  const events::Ledger& source() const { return copy_ ? copy_->ledger() : *ledger_; }  // what is delivered from
  events::Ledger& source() { return copy_ ? copy_->ledger() : *ledger_; }
  std::vector<delivery::Wiring> files_of_ledger();

  std::unique_ptr<Trial> trial_;
  const bool is_kept_;                      // by another process
  std::unique_ptr<events::Ledger> ledger_;  // the run's; while another keeps that, one in memory for the recorder
  events::Recorder recorder_;
  std::unique_ptr<LedgerCopy> copy_;  // null: delivered is from the run's own
  bool following_ = false;
  std::uint64_t events_before_ = 0;
  std::vector<Status> notes_;
  std::vector<std::string> configured_;  // names
  std::size_t subscriptions_ = 0;
  std::unique_ptr<delivery::Courier> courier_;  // last: it uses all of the above
};

}  // namespace trainwarden::cli
