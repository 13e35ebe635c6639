#include "work/output/run_output.h"

#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "data/format/run_event.h"

namespace trainwarden::output {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : "";
}

}  // namespace

RunOutput::RunOutput(storage::Location run, journal::RunInfo info, int rank, const Clock& clock)
    : run_(std::move(run)), info_(std::move(info)), rank_(rank), clock_(clock) {
  info_.awaits_worker = true;
  if (info_.created_unix_ns == 0) info_.created_unix_ns = clock.unix_ns();
  if (info_.host.empty()) info_.host = host_name();
}

Status RunOutput::open_journal() {
  if (journal_) return {};
  if (info_.id.empty()) info_.id = journal::make_run_id();
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo there, journal::create_or_join_run(run_.storage(), info_));
  journal::JournalOptions options;
  options.writer = journal::output_name(rank_);
  options.writer_id = journal::writer_id_of(options.writer).value_or(0);
  options.pid = ::getpid();
  TRAINWARDEN_ASSIGN_OR_RETURN(journal_,
                               journal::JournalWriter::open(run_.storage(), clock_, there, std::move(options)));
  return {};
}

Status RunOutput::append(const journal::SampleBatch& batch) {
  unnamed_.insert(unnamed_.end(), batch.new_metrics.begin(), batch.new_metrics.end());
  TRAINWARDEN_RETURN_IF_ERROR(open_journal());
  return journal_->append_samples({std::exchange(unnamed_, {}), batch.tables});
}

bool RunOutput::has_run() const {
  return journal_ != nullptr || run_.storage().exists(journal::kRunFile);
}

Status RunOutput::append(const format::OutputReport& report) {
  TRAINWARDEN_RETURN_IF_ERROR(open_journal());
  return journal_->append_event(format::FrameKind::kEvent, -1, format::encode_output_report(report));
}

Status RunOutput::finish(bool completed) {
  const std::unique_ptr<journal::JournalWriter> journal = std::move(journal_);
  if (!journal) return {};
  Status status;
  if (completed) status = journal->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({}));
  const Status sealed = journal->seal();
  return status.ok() ? sealed : status;
}

void RunOutput::beat() {
  if (journal_) journal_->beat();
}

}  // namespace trainwarden::output
