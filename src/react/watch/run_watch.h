// RunWatch: a run, judged while it is written or after, with everything that follows: the engine judges, the recorder
// writes each change into the ledger, the courier delivers it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "judge/rules/engine.h"
#include "react/delivery/courier.h"
#include "react/events/recorder.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::watch {

// Makes the subscriptions once it is known which run they are for.
using Subscribe = std::function<Result<std::vector<delivery::Subscription>>(const actions::RunContext& run)>;

struct RunWatchOptions {
  bool keep_going = false;        // judge on with a rule that has fired
  bool write_journal = true;      // else verdicts, events and deliveries are kept in memory alone
  std::vector<std::string> mute;  // as EngineOptions
  Subscribe subscribe;            // null: nobody
  bool own_program = false;       // program_ended() will say how the program ended; the run is not over before
  // For each event of the run, in poll(), finish() and settle(); begins with those that were recorded before.
  std::function<void(const events::Event&)> on_event;
  // For each verdict that fired or failed, in poll().
  rules::VerdictCallback on_verdict;
  // From the courier's threads, one at a time.
  std::function<void(const events::DeliveryRecord&, const events::Event&)> on_delivery;
};

// One thread at a time.
class RunWatch {
 public:
  // `trial` must outlive it. kInvalidArgument from `subscribe`.
  static Result<std::unique_ptr<RunWatch>> start(Trial& trial, std::vector<rules::EngineRule> rules,
                                                 RunWatchOptions options);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Refreshes the trial, judges, records. The status is the refresh's.
  Status poll(std::stop_token stop = {});
  // How the program ended, as its parent knows; before finish().
  void program_ended(const events::ProgramEnd& end);
  // Settles every rule's status and records it.
  void finish();
  // Takes in what the training answers and waits until every event is delivered, dead or to be tried again later;
  // `idle` is called again and again. False when `timeout` has passed or `stop` was asked for before. Also after
  // finish().
  bool settle(std::chrono::milliseconds timeout, const std::function<void()>& idle = {},
              const std::stop_token& stop = {});

  rules::Engine& engine();
  delivery::Backlog backlog() const;
  const std::string& note() const;  // for people: why events are not written down here; empty when they are

 private:
  class Impl;
  explicit RunWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden::watch
