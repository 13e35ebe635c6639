#include "read/transfer/imported_journal.h"

#include <deque>
#include <memory>
#include <set>

#include <unistd.h>

#include "read/transfer/recorded_clock.h"
#include "store/journal/journal_writer.h"

namespace trainwarden::transfer {
namespace {

using journal::Record;
using journal::RecordForm;

// One step on its way from a reader to a writer.
class StepInTransit {
 public:
  StepInTransit(trial::WorkerJournal& source, const journal::StepEntry& entry) : source_(source) {
    batch_.global_step = entry.global_step;
    batch_.mode = entry.mode;
    batch_.mode_step = entry.mode_step;
  }

  Status add(const Record& record) {
    const Status status = read(record);
    if (status.ok()) ++read_count_;
    return or_lost(status);
  }
  // What cannot be read is a loss of the step; other errors are the storage's.
  Status or_lost(const Status& status) {
    const bool unreadable = status.code() == Code::kDataLoss || status.code() == Code::kUnimplemented;
    if (!unreadable) return status;
    batch_.losses.push_back({"unreadable_in_source", 1, 0, status.message()});
    return {};
  }

  void add_name(std::uint32_t tensor) { batch_.new_names.push_back({tensor, source_.tensor(tensor).name, {}}); }
  const journal::StepBatch& batch() const { return batch_; }
  std::uint64_t read_count() const { return read_count_; }

 private:
  Status read(const Record& record) {
    journal::JournalReader& reader = source_.reader();
    switch (record.form) {
      case RecordForm::kValue: {
        TRAINWARDEN_ASSIGN_OR_RETURN(TensorValue value, reader.read_value(record));
        const TensorValue& kept = values_.emplace_back(std::move(value));
        batch_.tensors.push_back({record.tensor, kept.dtype, kept.shape, kept.data, kept.strings});
        return {};
      }
      case RecordForm::kScalar: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const double value, reader.read_scalar(record));
        batch_.scalars.push_back({record.tensor, value});
        return {};
      }
      case RecordForm::kReductions: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<SavedReduction> saved, reader.read_reductions(record));
        for (const SavedReduction& one : saved) {
          batch_.reductions.push_back({record.tensor, one.reduction, one.abs, one.value});
        }
        return {};
      }
      case RecordForm::kStatistics:
      case RecordForm::kShape: {
        TRAINWARDEN_ASSIGN_OR_RETURN(journal::StatisticsRow row, reader.read_statistics(record));
        row.id = record.tensor;
        batch_.statistics.push_back(std::move(row));
        return {};
      }
    }
    return {};
  }

  trial::WorkerJournal& source_;
  journal::StepBatch batch_;
  std::uint64_t read_count_ = 0;
  std::deque<TensorValue> values_;  // that the batch borrows
};

Result<std::unique_ptr<journal::JournalWriter>> open_writer(const Clock& clock, const JournalPlace& place) {
  journal::JournalOptions options;
  options.writer = journal::worker_name(place.rank);
  options.writer_id = static_cast<std::uint32_t>(place.rank);
  options.collections = place.collections;
  options.pid = ::getpid();
  return journal::JournalWriter::open(place.storage, clock, place.run, std::move(options));
}

}  // namespace

Result<ImportTally> import_journal(trial::WorkerJournal& source, std::span<const std::int64_t> steps,
                                   const JournalPlace& place) {
  RecordedClock clock;
  clock.set(place.run.created_unix_ns);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writer, open_writer(clock, place));
  ImportTally tally;
  std::set<std::uint32_t> named;
  for (const std::int64_t step : steps) {
    const auto index = source.step_index(step);
    if (!index) continue;
    const journal::StepEntry entry = source.reader().steps()[*index];
    StepInTransit transit(source, entry);
    std::vector<Record> records;
    if (const auto found = source.records_at(step); found.ok()) {
      records.assign(found->begin(), found->end());
    } else {
      TRAINWARDEN_RETURN_IF_ERROR(transit.or_lost(found.status()));
    }
    for (const Record& record : records) {
      if (named.insert(record.tensor).second) transit.add_name(record.tensor);
      TRAINWARDEN_RETURN_IF_ERROR(transit.add(record));
    }
    clock.set(source.reader().unix_ns(*index));
    TRAINWARDEN_RETURN_IF_ERROR(writer->append_step(transit.batch()));
    ++tally.steps;
    tally.records += transit.read_count();
    tally.unreadable += transit.batch().losses.size();
  }
  const std::string end = format::encode_run_end({});
  TRAINWARDEN_RETURN_IF_ERROR(writer->append_event(format::FrameKind::kEvent, -1, end));
  TRAINWARDEN_RETURN_IF_ERROR(writer->seal());
  return tally;
}

}  // namespace trainwarden::transfer
