// LedgerCopy: a ledger of one's own for events of a run whose ledger another process keeps: who delivers beside it has
// a memory of its own of what became of them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "react/events/ledger.h"
#include "store/journal/journal_reader.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::watch {

// One thread at a time.
class LedgerCopy {
 public:
  // Where the copy for these subscriptions lies in the run: the same names have the same memory.
  static storage::Location place_in(const storage::Location& run, std::span<const std::string> subscriptions);

  // Takes it, or makes it. `run_storage` must outlive it. kAlreadyExists when another process delivers the same.
  static Result<std::unique_ptr<LedgerCopy>> open(const storage::Location& place, const storage::Storage& run_storage,
                                                  const journal::RunInfo& run);

  events::Ledger& ledger() { return *ledger_; }
  // Appends the events that the run's ledger has got meanwhile, each with its own number, id and key.
  Status poll();
  // No process keeps the run's ledger any more.
  bool keeper_is_gone() const;

 private:
  LedgerCopy(storage::Location place, std::unique_ptr<events::Ledger> ledger, const storage::Storage& run_storage,
             journal::RunInfo run);

  const storage::Location place_;
  std::unique_ptr<events::Ledger> ledger_;
  const storage::Storage& run_storage_;
  const journal::RunInfo run_;
  std::unique_ptr<journal::JournalReader> original_;  // null: there is none yet
  std::size_t entries_ = 0;                           // of it, that were looked at
};

}  // namespace trainwarden::watch
