// RunPipeline: from the journals of a run to deliveries, in one piece: the recorder finds what has changed, the ledger
// keeps it as events, the courier delivers them. Whoever watches a run, delivers its events or listens to its training
// has one of these.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "react/actions/run_context.h"
#include "react/delivery/courier.h"
#include "react/events/ledger.h"
#include "react/events/recorder.h"
#include "react/watch/ledger_copy.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::watch {

enum class LedgerUse : std::uint8_t {
  kMemory,        // one in memory: nothing is written down, and other processes keep theirs
  kKeepOrMemory,  // the run's own; where that cannot be, one in memory, and note() says why
  kKeep,          // the run's own, or an error
  kKeepOrCopy,    // the run's own; while another process keeps that, a copy of it beside (LedgerCopy)
};

// From the courier's threads, one at a time.
using OnDelivery = std::function<void(const events::DeliveryRecord&, const events::Event&)>;

// One thread at a time.
class RunPipeline {
 public:
  // `trial` must outlive it. Errors of kKeep and kKeepOrCopy: kAlreadyExists when another process keeps the ledger (of
  // kKeep), those of opening it.
  static Result<std::unique_ptr<RunPipeline>> open(Trial& trial, LedgerUse use);
  ~RunPipeline();
  RunPipeline(const RunPipeline&) = delete;
  RunPipeline& operator=(const RunPipeline&) = delete;

  // In which actions act on this run; valid as long as this object. Their looks at answers see what the last record()
  // took in.
  actions::RunContext context();
  // Begins to deliver. Once. A subscription that the process that keeps the ledger has, from the same file, is left to
  // it. kAlreadyExists when a third process delivers the same beside it.
  Status deliver(std::vector<delivery::Subscription> subscriptions, OnDelivery on_delivery);

  // Takes in what the trial has since its last refresh.
  Status record() { return recorder_->poll(); }
  // The same, and what the process that keeps the ledger has recorded; the status is also that of writing it down.
  Status poll();

  // Of deliver(); without it there is nothing to wait for.
  bool settle(std::chrono::milliseconds timeout, const std::stop_token& stop);
  delivery::Backlog backlog() const { return courier_->backlog(); }
  void stop() { courier_->stop(); }

  events::Recorder& recorder() { return *recorder_; }
  // What is delivered from: the run's ledger, the copy, or the one in memory.
  const events::Ledger& source() const { return copy_ ? copy_->ledger() : *ledger_; }
  bool is_kept() const { return is_kept_; }    // another process keeps the run's ledger
  bool follows() const { return following_; }  // it does, and more events may come from it
  std::uint64_t recorded() const { return source().last_seq() - events_before_; }  // by this object
  // Changes of the run that the process that keeps the ledger has not recorded yet, so that nobody can deliver them.
  std::uint64_t unrecorded() const;
  const std::string& note() const { return note_; }  // for people: why events are not written down; empty: they are
  // Names of subscriptions that were.
  const std::vector<std::string>& left_to_keeper() const { return left_to_keeper_; }

 private:
  RunPipeline(Trial& trial, LedgerUse use) : trial_(trial), use_(use) {}
  Status open_ledger();
  Status open_copy(const std::vector<delivery::Subscription>& subscriptions);
  void leave_to_keeper(std::vector<delivery::Subscription>& subscriptions);
  storage::Storage& storage() const;

  Trial& trial_;
  const LedgerUse use_;
  bool is_kept_ = false;
  bool following_ = false;
  std::string note_;
  std::vector<std::string> left_to_keeper_;
  std::unique_ptr<events::Ledger> ledger_;  // the run's, or one in memory for the recorder
  std::unique_ptr<events::Recorder> recorder_;
  std::unique_ptr<LedgerCopy> copy_;  // null: delivered is from the other one
  std::uint64_t events_before_ = 0;
  std::unique_ptr<delivery::Courier> courier_;  // last: it uses all of the above
};

}  // namespace trainwarden::watch
