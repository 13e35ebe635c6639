// RunLedger: the events of a job's run, read from its ledger while somebody else keeps that.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "react/events/event.h"
#include "store/journal/journal_reader.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::job_events {

// One thread at a time.
class RunLedger {
 public:
  explicit RunLedger(storage::Location run) : run_(std::move(run)) {}

  // Gives each event once, in their order. Nothing as long as there is no run. What is damaged is passed over, and
  // logged. Errors: the storage's; call again.
  Status poll(const std::function<void(events::Event)>& take);
  // No process writes it.
  bool is_closed() const;

 private:
  const storage::Location run_;
  std::unique_ptr<journal::JournalReader> reader_;  // null: there is none yet
  std::size_t entries_ = 0;                         // that were looked at
  std::size_t losses_ = 0;                          // that were logged
};

}  // namespace trainwarden::job_events
