// RunSource: where a run's journals come from: a folder of ours, or one that another recorder wrote.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/read_budget.h"
#include "read/trial/run_state.h"
#include "store/journal/journal_reader.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/collection.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::trial {

// More workers than this, and what announces them is damaged.
inline constexpr int kMaxWorldSize = 0x10000;

// A worker that has written something.
struct SourceWorker {
  std::string name;
  int rank = 0;  // a number of its own below the run's world size; it keeps it
};

// One thread at a time.
class RunSource {
 public:
  virtual ~RunSource() = default;

  virtual std::string_view recorder() const = 0;  // "trainwarden", "smdebug"
  // As of the last refresh. Who did not write it when the run began may find out later: the world size can grow.
  virtual const journal::RunInfo& info() const = 0;

  // Takes in what the workers share; their journals are refreshed afterwards. `last_complete_step` is the reader's:
  // what lies before it need not be looked for any more. After an error call again, nothing is lost by it.
  virtual Status refresh(std::int64_t last_complete_step) = 0;
  // In any order.
  virtual std::vector<SourceWorker> workers() const = 0;
  // Who reads what the workers print, "output-0"; in any order.
  virtual std::vector<SourceWorker> outputs() const { return {}; }
  // Whose samplers write beside the workers, "machine-0"; in any order.
  virtual std::vector<SourceWorker> machines() const { return {}; }
  // Collections that were defined or changed since the last call and that are not in the journals.
  virtual std::vector<Collection> take_collections() = 0;
  // Must not outlive the source.
  virtual Result<std::unique_ptr<journal::JournalReader>> open_journal(const SourceWorker& worker) = 0;

  // Is a process writing this worker's journal, for all that can be seen?
  virtual bool is_writing(const SourceWorker& worker) const = 0;
  // Will it write no more?
  virtual bool has_ended(const WorkerLife& worker) const = 0;
  // Of the run, from what is known of the workers that have written something; where none has, of who reads their
  // output.
  virtual RunState state(std::span<const WorkerLife> workers) const = 0;
  // What is missing from the run and is in no journal's losses.
  virtual std::vector<RunLoss> losses(RunState state) const = 0;

  // Is it still this run that lies there? kFailedPrecondition when it is another one by now, kNotFound when none is.
  virtual Status check_same_run() const = 0;

  virtual std::string describe() const = 0;  // for messages
};

// Chooses by what lies in the folder. kNotFound when it is no run, kDataLoss when what describes the run cannot be
// used. `clock` must outlive the source. All that is read is spent from `budget`.
Result<std::unique_ptr<RunSource>> open_run_source(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                   const TrialOptions& options, std::shared_ptr<ReadBudget> budget);

}  // namespace trainwarden::trial
