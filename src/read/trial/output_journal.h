// OutputJournal: the journal of what was found in a worker's output, followed while it grows.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/format/output_report.h"
#include "read/trial/run_source.h"
#include "read/trial/run_state.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// More readings of one output than this, and those above are not counted.
inline constexpr std::size_t kMaxReadings = 1000;

// One thread at a time. The source must outlive it.
class OutputJournal {
 public:
  OutputJournal(RunSource& source, SourceWorker writer) : source_(source), writer_(std::move(writer)) {}

  // Takes in what has been written since.
  Status refresh();

  const std::string& name() const { return writer_.name; }  // "output-0"
  const WorkerLife& life() const { return life_; }
  std::span<const RunLoss> losses() const;
  // Over all readings of this output: those that went on after another one.
  format::OutputReport report() const;

  // The reader; only after a refresh() that succeeded.
  journal::JournalReader& reader() { return *reader_; }
  bool readable() const { return reader_ != nullptr; }

 private:
  Status take_in_events();
  void take(const format::OutputReport& report);

  RunSource& source_;
  const SourceWorker writer_;
  WorkerLife life_;
  std::unique_ptr<journal::JournalReader> reader_;
  std::size_t events_read_ = 0;
  std::map<std::int64_t, format::OutputReport> reports_;  // the last of each reading, by when that began
};

}  // namespace trainwarden::trial
