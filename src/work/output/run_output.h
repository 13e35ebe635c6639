// RunOutput: the journal of a run in which lies what was found in a program's output.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "data/format/output_report.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::output {

// One thread at a time. Opens its journal with the first samples: should no worker have made the run by then, this
// makes one that awaits a worker (journal::RunInfo::awaits_worker).
class RunOutput {
 public:
  // `info`: what is known of the run before a worker says more. `clock` must outlive it.
  RunOutput(storage::Location run, journal::RunInfo info, int rank, const Clock& clock);

  // When it returns ok, the samples survive a kill. The errors of the storage; kAlreadyExists when another process
  // reads this output.
  Status append(const journal::SampleBatch& batch);
  // There is a run, so that a report would not make one.
  bool has_run() const;
  Status append(const format::OutputReport& report);
  // Nothing follows. `completed`: the program came to its end by itself, and all went well.
  Status finish(bool completed);
  // Keeps word that this process lives; cheap until that is due.
  void beat();

 private:
  Status open_journal();

  const storage::Location run_;
  journal::RunInfo info_;
  const int rank_;
  const Clock& clock_;
  std::unique_ptr<journal::JournalWriter> journal_;
  std::vector<journal::MetricEntry> unnamed_;  // that no journal has been told yet
};

}  // namespace trainwarden::output
