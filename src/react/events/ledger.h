// Ledger: the events of a run and what became of them, in a journal of their own (journal/ledger). One process keeps it
// at a time; anybody reads it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "react/events/delivery_record.h"
#include "react/events/event.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::events {

inline constexpr const char* kLedgerWriter = "ledger";

// How far the recorder has read a journal: events of its reader.
using Intake = std::map<std::string, std::uint64_t>;

// What a ledger holds.
struct LedgerContents {
  std::vector<Event> events;                 // events[i].seq == i + 1
  std::vector<DeliveryRecord> deliveries;    // in the order of writing
  std::vector<SubscribedRecord> subscribed;  // the newest of each name
  Intake intake;
  std::uint64_t unreadable = 0;   // entries that were damaged
  std::uint64_t lost_events = 0;  // those of `events` that are stand-ins (kLostType) for events that were damaged
};

// The ledger of a run as far as it is written; empty when there is none.
Result<LedgerContents> read_ledger(const storage::Storage& storage, const journal::RunInfo& run);

// All methods may be called from many threads at once.
class Ledger {
 public:
  // Takes the ledger and reads what is in it. kAlreadyExists when another process keeps it, kPermissionDenied and the
  // like from the storage. `storage` and `clock` must outlive it.
  static Result<std::unique_ptr<Ledger>> open(storage::Storage& storage, const Clock& clock,
                                              const journal::RunInfo& run);
  // A ledger in memory alone, for runs that cannot be written: events are still delivered.
  static std::unique_ptr<Ledger> in_memory(const Clock& clock, const journal::RunInfo& run);
  // With what another one holds in it, for who wants to know what follows from it: further events are counted and not
  // kept, so that a look at a run with many costs their number and not their size.
  static std::unique_ptr<Ledger> counting(const journal::RunInfo& run, LedgerContents contents);
  ~Ledger();  // seals
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Gives the event the next seq, and an id when it has none, completes its data, appends it and wakes who waits. A
  // failure to write is kept in status(); the event is there nevertheless.
  Event append(Event event);
  void record(const DeliveryRecord& record);
  void record(const SubscribedRecord& record);
  void record_intake(const Intake& intake);
  // Keeps word that this process keeps it; for who waits long for events. Cheap.
  void beat();

  bool keeps_events() const;
  std::uint64_t last_seq() const;
  Event event(std::uint64_t seq) const;                                           // in [1, last_seq()]
  std::vector<DeliveryRecord> deliveries(const std::string& subscription) const;  // in the order of writing
  std::vector<SubscribedRecord> subscribed() const;
  Intake intake() const;
  std::uint64_t lost_events() const;  // as LedgerContents
  // Returns when there is an event after `seq` or a delivery was recorded by somebody else (redrive), when `stop` is
  // asked for, or after `timeout`.
  void wait_after(std::uint64_t seq, std::chrono::milliseconds timeout, const std::stop_token& stop) const;

  Status status() const;                    // the first failure to write
  const storage::Storage* storage() const;  // null in memory

 private:
  class Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden::events
