#include "store/journal/side_writer.h"

#include <unistd.h>

#include <utility>

#include "core/base/host_name.h"
#include "data/format/run_event.h"

namespace trainwarden::journal {

SideWriter::SideWriter(SideWriterPlan plan, const Clock& clock) : plan_(std::move(plan)), clock_(clock) {}

Result<RunInfo> SideWriter::find_run() {
  storage::Storage& storage = plan_.run.storage();
  if (!plan_.makes_run) return read_run(storage);
  RunInfo info = plan_.info;
  info.awaits_worker = true;
  if (info.id.empty()) info.id = make_run_id();
  if (info.created_unix_ns == 0) info.created_unix_ns = clock_.unix_ns();
  if (info.host.empty()) info.host = host_name();
  return create_or_join_run(storage, info);
}

Status SideWriter::open_journal() {
  if (journal_) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunInfo run, find_run());
  for (int number = plan_.first;; ++number) {
    JournalOptions options;
    options.writer = plan_.name_of(number);
    options.writer_id = writer_id_of(options.writer).value_or(0);
    options.pid = ::getpid();
    auto journal = JournalWriter::open(plan_.run.storage(), clock_, run, std::move(options));
    const bool taken = journal.status().code() == Code::kAlreadyExists && number < plan_.last;
    if (taken) continue;
    TRAINWARDEN_RETURN_IF_ERROR(journal.status());
    journal_ = std::move(*journal);
    return {};
  }
}

Status SideWriter::append(const SampleBatch& batch) {
  unnamed_.insert(unnamed_.end(), batch.new_metrics.begin(), batch.new_metrics.end());
  TRAINWARDEN_RETURN_IF_ERROR(open_journal());
  return journal_->append_samples({std::exchange(unnamed_, {}), batch.tables});
}

Status SideWriter::append_event(std::string_view json) {
  TRAINWARDEN_RETURN_IF_ERROR(open_journal());
  return journal_->append_event(format::FrameKind::kEvent, -1, json);
}

bool SideWriter::has_run() const {
  return journal_ != nullptr || plan_.run.storage().exists(kRunFile);
}

Status SideWriter::finish(bool completed) {
  const std::unique_ptr<JournalWriter> journal = std::move(journal_);
  if (!journal) return {};
  Status status;
  if (completed) status = journal->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({}));
  const Status sealed = journal->seal();
  return status.ok() ? sealed : status;
}

void SideWriter::beat() {
  if (journal_) journal_->beat();
}

}  // namespace trainwarden::journal
