#include "store/journal/journal_writer.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "data/format/operators_record.h"
#include "store/journal/format_versions.h"
#include "store/journal/operators_draft.h"
#include "store/journal/retry_delay.h"
#include "store/journal/samples_draft.h"
#include "store/journal/segment_writer.h"
#include "store/journal/step_draft.h"
#include "store/storage/lease.h"

namespace trainwarden::journal {
namespace {

class SegmentedJournalWriter final : public JournalWriter {
 public:
  SegmentedJournalWriter(storage::Storage& storage, const Clock& clock, const RunInfo& run, JournalOptions options,
                         std::unique_ptr<storage::Lease> lease, std::uint64_t next_segment)
      : storage_(storage),
        clock_(clock),
        run_(run),
        options_(std::move(options)),
        lease_(std::move(lease)),
        next_segment_(next_segment) {}

  Status append_step(const StepBatch& batch) override;
  Status append_part(const StepBatch& batch) override;
  bool holds_parts() const override { return segment_ && segment_->has_open_step(); }
  Status append_event(format::FrameKind kind, std::int64_t step, std::string_view json) override;
  Status append_samples(const SampleBatch& batch) override;
  Status append_operators(const OperatorBatch& batch) override;
  Status change_collections(std::vector<Collection> collections) override;
  Status sync() override;
  Status seal() override;
  void beat() override;
  std::uint64_t written_bytes() const override { return left_bytes_ + (segment_ ? segment_->bytes() : 0); }

 private:
  Status ensure_segment();
  Status start_segment();
  Result<std::unique_ptr<storage::WritableFile>> create_file();
  Status append(const AppendDraft& draft) { return append(draft, options_.sync_each_step); }
  Status append(const AppendDraft& draft, bool synced);
  Status seal_segment();
  void seal_when_due();
  void abandon_segment();
  void leave_segment();

  storage::Storage& storage_;
  const Clock& clock_;
  const RunInfo run_;
  JournalOptions options_;
  const std::unique_ptr<storage::Lease> lease_;
  std::uint64_t next_segment_;
  NamesById names_;  // of every id so far, to be written to the next segment again
  MetricsById metrics_;
  std::unique_ptr<SegmentWriter> segment_;
  Status left_unsynced_;          // why a segment that is left may not survive a power loss: the next sync() reports it
  std::uint64_t left_bytes_ = 0;  // of the segments before segment_
  RetryDelay retry_delay_;
  Status ousted_;  // another process writes this journal
};

Status SegmentedJournalWriter::append_step(const StepBatch& batch) {
  return no_throw([&]() -> Status {
    for (const NameEntry& entry : batch.new_names) names_[entry.id] = entry;
    TRAINWARDEN_RETURN_IF_ERROR(ensure_segment());
    TRAINWARDEN_ASSIGN_OR_RETURN(const AppendDraft draft, draft_step(batch, names_, segment_->named_ids()));
    return append(draft);
  });
}

Status SegmentedJournalWriter::append_part(const StepBatch& batch) {
  return no_throw([&]() -> Status {
    if (batch.tensors.empty()) return Status(Code::kInvalidArgument, "a part of a step without tensors");
    for (const NameEntry& entry : batch.new_names) names_[entry.id] = entry;
    TRAINWARDEN_RETURN_IF_ERROR(ensure_segment());
    TRAINWARDEN_ASSIGN_OR_RETURN(const AppendDraft draft, draft_part(batch, names_, segment_->named_ids()));
    return append(draft, false);  // nobody sees it before the end of the step, which is synced
  });
}

Status SegmentedJournalWriter::append_event(format::FrameKind kind, std::int64_t step, std::string_view json) {
  return no_throw([&]() -> Status {
    TRAINWARDEN_RETURN_IF_ERROR(ensure_segment());
    AppendDraft draft;
    draft.frames.emplace_back();
    draft.frames.back().kind = kind;
    draft.frames.back().step = step;
    draft.frames.back().head = json;
    return append(draft);
  });
}

Status SegmentedJournalWriter::append_samples(const SampleBatch& batch) {
  return no_throw([&]() -> Status {
    for (const MetricEntry& entry : batch.new_metrics) metrics_[entry.id] = entry.metric;
    TRAINWARDEN_RETURN_IF_ERROR(check_batch(batch, metrics_));
    if (batch.tables.empty()) return Status();
    TRAINWARDEN_RETURN_IF_ERROR(ensure_segment());
    return append(draft_samples(batch, metrics_, segment_->named_metrics()));
  });
}

Status SegmentedJournalWriter::append_operators(const OperatorBatch& batch) {
  return no_throw([&]() -> Status {
    TRAINWARDEN_RETURN_IF_ERROR(format::check_operators(batch));
    AppendDraft draft = draft_operators(batch);
    if (draft.frames.empty()) return Status();
    TRAINWARDEN_RETURN_IF_ERROR(ensure_segment());
    return append(draft);
  });
}

Status SegmentedJournalWriter::append(const AppendDraft& draft, bool synced) {
  Status status = no_throw([&] { return segment_->append(draft); });
  if (status.ok() && synced) status = segment_->sync();
  if (!status.ok()) {
    abandon_segment();
    retry_delay_.failed(status, clock_.steady_ns());
    return status;
  }
  retry_delay_.succeeded();
  beat();
  seal_when_due();
  return Status();
}

Status SegmentedJournalWriter::ensure_segment() {
  if (!ousted_.ok()) return ousted_;
  if (segment_) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(retry_delay_.may_try(clock_.steady_ns()));
  const Status status = start_segment();
  if (!status.ok()) retry_delay_.failed(status, clock_.steady_ns());
  return status;
}

Status SegmentedJournalWriter::start_segment() {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<storage::WritableFile> file, create_file());
  format::SegmentStart start;
  start.run = run_.id;
  start.writer = options_.writer;
  start.writer_id = options_.writer_id;
  start.segment = next_segment_++;
  start.format_version = run_.format_version;
  start.host = run_.host;
  start.pid = options_.pid;
  start.collections = options_.collections;
  const bool compressed = run_.format_version >= kCompressedVersion;
  TRAINWARDEN_ASSIGN_OR_RETURN(segment_,
                               SegmentWriter::start(std::move(file), clock_, run_salt(run_), start, compressed));
  return Status();
}

// A file may be there although its creation was reported as failed: its number is spent.
Result<std::unique_ptr<storage::WritableFile>> SegmentedJournalWriter::create_file() {
  constexpr int kAttempts = 16;
  for (int attempt = 1;; ++attempt) {
    auto file = storage_.create(journal_folder(options_.writer) + "/" + segment_file(next_segment_));
    if (file.ok() || file.status().code() != Code::kAlreadyExists || attempt == kAttempts) return file;
    ++next_segment_;
  }
}

Status SegmentedJournalWriter::change_collections(std::vector<Collection> collections) {
  options_.collections = std::move(collections);
  return seal_segment();
}

Status SegmentedJournalWriter::sync() {
  Status status = std::exchange(left_unsynced_, Status());
  if (!segment_) return status;
  const Status synced = segment_->sync();
  if (!synced.ok()) leave_segment();
  return status.ok() ? synced : status;
}

Status SegmentedJournalWriter::seal() {
  Status status = seal_segment();
  const Status ended = no_throw([&] { return lease_->end(); });
  if (!ended.ok())
    log(LogLevel::kDebug, "{}: others see its end a minute late: {}", options_.writer, ended.to_string());
  return status;
}

Status SegmentedJournalWriter::seal_segment() {
  if (!segment_) return Status();
  const bool synced = options_.sync_each_step || options_.sync_each_segment;
  Status status = no_throw([&] { return segment_->seal(synced); });
  if (!status.ok() && options_.sync_each_segment) left_unsynced_ = status;
  leave_segment();
  return status;
}

// The steps of a segment that could not be sealed are as safe as before, and so its failure is not the step's.
void SegmentedJournalWriter::seal_when_due() {
  if (segment_->has_open_step()) return;
  const bool old = options_.segment_age_ns > 0 && segment_->age_ns() >= options_.segment_age_ns;
  if (segment_->bytes() < options_.segment_bytes && !old) return;
  const Status status = seal_segment();
  if (!status.ok()) {
    log(LogLevel::kWarning, "{}: a segment stays without its index, so that opening the run takes longer: {}",
        options_.writer, status.to_string());
  }
}

// An append has failed. What was appended before was acknowledged, and no sync() comes by here any more.
void SegmentedJournalWriter::abandon_segment() {
  if (options_.sync_each_segment) {
    const Status synced = no_throw([&] { return segment_->sync(); });
    if (!synced.ok()) left_unsynced_ = synced;
  }
  leave_segment();
}

void SegmentedJournalWriter::leave_segment() {
  left_bytes_ += segment_->bytes();
  segment_.reset();
}

// A failure is of no consequence beside the journal's own: on this machine the lock counts. But where there is none,
// another process may have taken the journal over, and two would write it.
void SegmentedJournalWriter::beat() {
  if (!ousted_.ok()) return;
  const Status renewed = no_throw([&] { return lease_->beat(); });
  if (renewed.code() == Code::kAlreadyExists) {
    log(LogLevel::kError, "{}: nothing more is written: {}", options_.writer, renewed.to_string());
    ousted_ = renewed;
  } else if (!renewed.ok()) {
    log(LogLevel::kDebug, "{}: no sign of life: {}", options_.writer, renewed.to_string());
  }
}

Status check_options(const JournalOptions& options) {
  const std::optional<std::uint32_t> id = writer_id_of(options.writer);
  if (options.writer.empty() || options.writer.find('/') != std::string::npos) {
    return Status(Code::kInvalidArgument, fmt::format("\"{}\" cannot be the name of a writer", options.writer));
  }
  if (id && *id != options.writer_id) {
    return Status(Code::kInvalidArgument,
                  fmt::format("writer {} must have the id {}, not {}", options.writer, *id, options.writer_id));
  }
  return Status();
}

}  // namespace

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(storage::Storage& storage, const Clock& clock,
                                                           const RunInfo& run, JournalOptions options) {
  return no_throw([&]() -> Result<std::unique_ptr<JournalWriter>> {
    TRAINWARDEN_RETURN_IF_ERROR(check_options(options));
    TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(journal_folder(options.writer)));
    TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<storage::Lease> lease,
                                 storage::take_lease(storage, writer_lease(options.writer), clock));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> segments, list_segments(storage, options.writer));
    const std::uint64_t next_segment = segments.empty() ? 0 : segments.back() + 1;
    return std::unique_ptr<JournalWriter>(std::make_unique<SegmentedJournalWriter>(
        storage, clock, run, std::move(options), std::move(lease), next_segment));
  });
}

}  // namespace trainwarden::journal
