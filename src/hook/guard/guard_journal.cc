#include "hook/guard/guard_journal.h"

#include <utility>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "store/journal/run_folder.h"

namespace trainwarden::guard {

void GuardJournal::add(format::FrameKind kind, std::int64_t global_step, std::string json) {
  if (storage_ == nullptr) return;
  std::lock_guard lock(mutex_);
  if (waiting_.size() < kMaxWaiting) {
    waiting_.push_back({kind, global_step, std::move(json)});
  } else {
    log(LogLevel::kError, "a verdict was not written into the run: the storage does not take them fast enough");
  }
}

void GuardJournal::write() {
  std::vector<Frame> frames;
  {
    std::lock_guard lock(mutex_);
    frames.swap(waiting_);
  }
  if (journal_.writer != nullptr) journal_.writer->beat();
  if (frames.empty() || failed_) return;
  const Status status = no_throw([&] { return write_all(frames); });
  if (status.ok()) return;
  failed_ = true;
  log(LogLevel::kError, "verdicts from inside the training are no longer written into the run: {}", status.to_string());
}

Status GuardJournal::write_all(const std::vector<Frame>& frames) {
  if (journal_.writer == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo run, journal::read_run(*storage_));
    TRAINWARDEN_ASSIGN_OR_RETURN(journal_, rules::open_watch_journal(*storage_, clock_, run));
  }
  for (const Frame& frame : frames) {
    TRAINWARDEN_RETURN_IF_ERROR(journal_.writer->append_event(frame.kind, frame.global_step, frame.json));
  }
  return Status();
}

void GuardJournal::finish() {
  write();
  if (journal_.writer == nullptr) return;
  const Status sealed = no_throw([&] { return journal_.writer->seal(); });
  if (!sealed.ok()) log(LogLevel::kWarning, "the guard's journal stays without its index: {}", sealed.to_string());
  journal_.writer.reset();  // and with it the lock
}

}  // namespace trainwarden::guard
