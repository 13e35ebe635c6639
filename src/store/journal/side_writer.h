// SideWriter: writes samples and events beside a run's workers, into a journal that it opens when there is something to
// write.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

struct SideWriterPlan {
  storage::Location run;
  // Should no worker have made the run yet, this is known of it, and makes one that awaits a worker
  // (RunInfo::awaits_worker). Without `makes_run` that is kNotFound.
  RunInfo info{};
  bool makes_run = true;
  // Of the journals name_of(first) to name_of(last): the first that no process writes.
  std::string (*name_of)(int) = nullptr;
  int first = 0;
  int last = 0;
};

// One thread at a time.
class SideWriter {
 public:
  // `clock` must outlive it.
  SideWriter(SideWriterPlan plan, const Clock& clock);

  // When these return ok, what was given survives a kill. The errors of the storage; kAlreadyExists when other
  // processes write all of the journals; kNotFound: SideWriterPlan::makes_run. Metrics that were new in a batch that
  // could not be written are named with the next.
  Status append(const SampleBatch& batch);
  Status append_event(std::string_view json);
  // There is a run, so that writing would not make one.
  bool has_run() const;
  // Nothing follows. `completed`: what it is about came to its end by itself, and all went well.
  Status finish(bool completed);
  // Keeps word that this process lives; cheap until that is due.
  void beat();

 private:
  Status open_journal();
  Result<RunInfo> find_run();

  const SideWriterPlan plan_;
  const Clock& clock_;
  std::unique_ptr<JournalWriter> journal_;
  std::vector<MetricEntry> unnamed_;  // that no journal has been told yet
};

}  // namespace trainwarden::journal
