// RunDelivery: delivers the events of one run outside of any watch. Where nobody keeps the run's ledger it takes that,
// and records what was missed; beside a process that does, it delivers from a copy (watch::LedgerCopy), and what the
// other delivers is left to the other.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "react/watch/run_pipeline.h"
#include "trainwarden/trial.h"
#include "ui/cli/options/action_choice.h"

namespace trainwarden::cli {

// A subscription of which events wait, and which nobody here configures.
struct Unconfigured {
  events::SubscribedRecord subscribed;
  std::size_t waiting = 0;
};

// One thread at a time.
class RunDelivery {
 public:
  // Begins at once. `wiring`: what to deliver to; with `files_of_ledger` also to what the configuration files say that
  // the ledger names, when nobody keeps it.
  // kAlreadyExists when another process keeps the ledger and `wiring` has nothing for us, or delivers the same;
  // kFailedPrecondition for a run of smdebug's, and errors of the wiring. `on_delivery` is called from other threads,
  // one at a time.
  static Result<std::unique_ptr<RunDelivery>> start(const std::filesystem::path& run, ActionWiring wiring,
                                                    bool files_of_ledger, watch::OnDelivery on_delivery);
  ~RunDelivery();
  RunDelivery(const RunDelivery&) = delete;
  RunDelivery& operator=(const RunDelivery&) = delete;

  // Takes in what has changed in the run. The status is the trial's or the ledger's.
  Status poll();
  delivery::Backlog backlog() const { return pipeline_->backlog(); }
  void stop() { pipeline_->stop(); }
  // More events may come: another process keeps the ledger, and we follow.
  bool follows() const { return pipeline_->follows(); }

  std::uint64_t events() const { return pipeline_->source().last_seq(); }
  std::uint64_t recorded() const { return pipeline_->recorded(); }  // by this object
  // Changes of the run that the process that keeps the ledger has not recorded yet, so that nobody can deliver them.
  std::uint64_t unrecorded() const { return pipeline_->unrecorded(); }
  std::size_t subscriptions() const { return subscriptions_; }
  std::vector<Unconfigured> unconfigured() const;
  // Why a configuration file that the ledger names says nothing.
  const std::vector<Status>& notes() const { return notes_; }

 private:
  explicit RunDelivery(std::unique_ptr<Trial> trial) : trial_(std::move(trial)) {}
  Status begin(ActionWiring wiring, bool files_of_ledger, watch::OnDelivery on_delivery);
  std::vector<delivery::Wiring> files_of_ledger();
  void note_left_to_keeper();

  const std::unique_ptr<Trial> trial_;
  std::unique_ptr<watch::RunPipeline> pipeline_;
  std::vector<Status> notes_;
  std::vector<std::string> configured_;  // names
  std::size_t subscriptions_ = 0;
};

}  // namespace trainwarden::cli
