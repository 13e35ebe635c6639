#include "react/events/ledger.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "react/events/ledger_journal.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"

namespace trainwarden::events {

Result<LedgerContents> read_ledger(const storage::Storage& storage, const journal::RunInfo& run) {
  return no_throw([&]() -> Result<LedgerContents> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, journal::JournalReader::open(storage, run, kLedgerWriter, {}));
    return contents_of(*reader, run);
  });
}

class Ledger::Impl {
 public:
  Impl(journal::RunInfo run, storage::Storage* storage, std::unique_ptr<journal::JournalWriter> writer,
       LedgerContents contents, bool keeps_events = true)
      : run_(std::move(run)),
        storage_(storage),
        writer_(std::move(writer)),
        keeps_events_(keeps_events),
        contents_(std::move(contents)) {
    for (const DeliveryRecord& record : contents_.deliveries) deliveries_[record.subscription].push_back(record);
    contents_.deliveries.clear();
  }

  ~Impl() {
    if (writer_ == nullptr) return;
    const Status sealed = writer_->seal();
    if (!sealed.ok()) log(LogLevel::kWarning, "the ledger stays without its index: {}", sealed.to_string());
  }

  Event append(Event event) {
    {
      const std::scoped_lock lock(mutex_);
      event.seq = contents_.events.size() + counted_events_ + 1;
      if (event.id.empty()) event.id = fmt::format("{}-{}", run_.id, event.seq);
      if (!keeps_events_) {
        ++counted_events_;
        return event;
      }
      complete_data(event);
      write(format::FrameKind::kEvent, event.global_step, encode_event(event));
      contents_.events.push_back(event);
    }
    changed_.notify_all();
    return event;
  }

  void record(const DeliveryRecord& record) {
    const bool by_somebody_else = record.state == DeliveryState::kRedriven || record.state == DeliveryState::kDropped;
    {
      const std::scoped_lock lock(mutex_);
      write(format::FrameKind::kAction, -1, encode_delivery(record));
      deliveries_[record.subscription].push_back(record);
      if (by_somebody_else) ++interventions_;
    }
    if (by_somebody_else) changed_.notify_all();
  }

  void record(const SubscribedRecord& record) {
    const std::scoped_lock lock(mutex_);
    write(format::FrameKind::kAction, -1, encode_subscribed(record));
    for (SubscribedRecord& known : contents_.subscribed) {
      if (known.subscription != record.subscription) continue;
      known = record;
      return;
    }
    contents_.subscribed.push_back(record);
  }

  void record_intake(const Intake& intake) {
    const std::scoped_lock lock(mutex_);
    if (intake == contents_.intake) return;
    write(format::FrameKind::kAction, -1, encode_intake(intake));
    contents_.intake = intake;
  }

  void beat() {
    const std::scoped_lock lock(mutex_);
    if (writer_ != nullptr) writer_->beat();
  }

  std::uint64_t last_seq() const {
    const std::scoped_lock lock(mutex_);
    return contents_.events.size() + counted_events_;
  }
  bool keeps_events() const { return keeps_events_; }
  Event event(std::uint64_t seq) const {
    const std::scoped_lock lock(mutex_);
    return contents_.events.at(seq - 1);
  }
  std::vector<DeliveryRecord> deliveries(const std::string& subscription) const {
    const std::scoped_lock lock(mutex_);
    const auto found = deliveries_.find(subscription);
    return found == deliveries_.end() ? std::vector<DeliveryRecord>() : found->second;
  }
  std::vector<SubscribedRecord> subscribed() const {
    const std::scoped_lock lock(mutex_);
    return contents_.subscribed;
  }
  Intake intake() const {
    const std::scoped_lock lock(mutex_);
    return contents_.intake;
  }
  std::uint64_t lost_events() const {
    const std::scoped_lock lock(mutex_);
    return contents_.lost_events;
  }

  void wait_after(std::uint64_t seq, std::chrono::milliseconds timeout, const std::stop_token& stop) const {
    std::unique_lock lock(mutex_);
    const std::uint64_t interventions = interventions_;
    changed_.wait_for(lock, stop, timeout,
                      [&] { return contents_.events.size() > seq || interventions_ != interventions; });
  }

  Status status() const {
    const std::scoped_lock lock(mutex_);
    return status_;
  }
  const storage::Storage* storage() const { return storage_; }

 private:
  // Under the lock: the order of the frames is that of the numbers.
  void write(format::FrameKind kind, std::int64_t step, const std::string& json) {
    if (writer_ == nullptr) return;
    const Status written = writer_->append_event(kind, step, json);
    if (written.ok() || !status_.ok()) return;
    status_ = written;
    log(LogLevel::kError,
        "the ledger of the run could not be written; whoever starts later may deliver an event again: {}",
        written.to_string());
  }

  const journal::RunInfo run_;
  storage::Storage* const storage_;
  const std::unique_ptr<journal::JournalWriter> writer_;
  const bool keeps_events_;
  std::uint64_t counted_events_ = 0;  // behind those of contents_
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  LedgerContents contents_;  // but its deliveries
  std::map<std::string, std::vector<DeliveryRecord>> deliveries_;
  std::uint64_t interventions_ = 0;  // redriven and dropped
  Status status_;
};

Result<std::unique_ptr<Ledger>> Ledger::open(storage::Storage& storage, const Clock& clock,
                                             const journal::RunInfo& run) {
  return no_throw([&]() -> Result<std::unique_ptr<Ledger>> {
    journal::JournalOptions options;
    options.writer = kLedgerWriter;
    options.writer_id = journal::writer_id_of(kLedgerWriter).value_or(0);
    options.pid = ::getpid();
    TRAINWARDEN_ASSIGN_OR_RETURN(auto writer, journal::JournalWriter::open(storage, clock, run, std::move(options)));
    // Not live: nobody else writes any more, so that what is unfinished stays so.
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader,
                                 journal::JournalReader::open(storage, run, kLedgerWriter, {.live = false}));
    TRAINWARDEN_ASSIGN_OR_RETURN(LedgerContents contents, contents_of(*reader, run));
    return std::unique_ptr<Ledger>(
        new Ledger(std::make_unique<Impl>(run, &storage, std::move(writer), std::move(contents))));
  });
}

std::unique_ptr<Ledger> Ledger::in_memory(const Clock& /*clock*/, const journal::RunInfo& run) {
  return std::unique_ptr<Ledger>(new Ledger(std::make_unique<Impl>(run, nullptr, nullptr, LedgerContents())));
}
std::unique_ptr<Ledger> Ledger::counting(const journal::RunInfo& run, LedgerContents contents) {
  return std::unique_ptr<Ledger>(new Ledger(std::make_unique<Impl>(run, nullptr, nullptr, std::move(contents), false)));
}

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::~Ledger() = default;

Event Ledger::append(Event event) {
  return impl_->append(std::move(event));
}
void Ledger::record(const DeliveryRecord& record) {
  impl_->record(record);
}
void Ledger::record(const SubscribedRecord& record) {
  impl_->record(record);
}
void Ledger::record_intake(const Intake& intake) {
  impl_->record_intake(intake);
}
void Ledger::beat() {
  impl_->beat();
}
bool Ledger::keeps_events() const {
  return impl_->keeps_events();
}
std::uint64_t Ledger::last_seq() const {
  return impl_->last_seq();
}
Event Ledger::event(std::uint64_t seq) const {
  return impl_->event(seq);
}
std::vector<DeliveryRecord> Ledger::deliveries(const std::string& subscription) const {
  return impl_->deliveries(subscription);
}
std::vector<SubscribedRecord> Ledger::subscribed() const {
  return impl_->subscribed();
}
Intake Ledger::intake() const {
  return impl_->intake();
}
std::uint64_t Ledger::lost_events() const {
  return impl_->lost_events();
}
void Ledger::wait_after(std::uint64_t seq, std::chrono::milliseconds timeout, const std::stop_token& stop) const {
  impl_->wait_after(seq, timeout, stop);
}
Status Ledger::status() const {
  return impl_->status();
}
const storage::Storage* Ledger::storage() const {
  return impl_->storage();
}

}  // namespace trainwarden::events
