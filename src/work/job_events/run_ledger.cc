#include "work/job_events/run_ledger.h"

#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "react/events/ledger.h"
#include "store/journal/run_folder.h"

namespace trainwarden::job_events {

Status RunLedger::poll(const std::function<void(events::Event)>& take) {
  const storage::Storage& storage = run_.storage();
  if (reader_ == nullptr) {
    if (!storage.exists(journal::journal_folder(events::kLedgerWriter))) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info, journal::read_run(storage));
    TRAINWARDEN_ASSIGN_OR_RETURN(reader_, journal::JournalReader::open(storage, info, events::kLedgerWriter, {}));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(reader_->refresh());
  }
  if (reader_->event_count() == entries_) return {};
  const Status read = reader_->visit_events(entries_, [&](std::size_t index, const journal::EventEntry& entry) {
    entries_ = index + 1;
    if (entry.kind != format::FrameKind::kEvent) return;
    Result<events::Event> event = events::decode_event(entry.json);
    if (event.ok()) return take(*std::move(event));
    log(LogLevel::kWarning, "an event of {} is passed over: {}", printable(run_.address()), event.status().message());
  });
  if (reader_->losses().size() > losses_) {
    losses_ = reader_->losses().size();
    log(LogLevel::kWarning, "the ledger of {} is damaged; what is lost there is delivered to nobody",
        printable(run_.address()));
  }
  return read;
}

bool RunLedger::is_closed() const {
  return !journal::has_living_writer(run_.storage(), events::kLedgerWriter);
}

}  // namespace trainwarden::job_events
