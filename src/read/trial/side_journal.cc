#include "read/trial/side_journal.h"

#include "data/format/run_event.h"

namespace trainwarden::trial {

Status SideJournal::refresh() {
  const bool writing = source_.is_writing(writer_);
  if (reader_ == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(reader_, source_.open_journal(writer_));
  }
  TRAINWARDEN_RETURN_IF_ERROR(reader_->refresh());
  life_.writing = writing;
  TRAINWARDEN_RETURN_IF_ERROR(take_in_events());
  life_.has_written = events_read_ > 0 || reader_->sample_frames() > 0;
  return {};
}

Status SideJournal::take_in_events() {
  TRAINWARDEN_RETURN_IF_ERROR(
      reader_->visit_events(events_read_, [&](std::size_t index, const journal::EventEntry& event) {
        events_read_ = index + 1;
        if (event.kind != format::FrameKind::kEvent) return;
        if (const auto end = format::decode_run_end(event.json); end.ok() && *end) life_.run_end = **end;
        take(event);
      }));
  events_read_ = reader_->event_count();
  return {};
}

std::span<const RunLoss> SideJournal::losses() const {
  return reader_ ? reader_->losses() : std::span<const RunLoss>();
}

}  // namespace trainwarden::trial
