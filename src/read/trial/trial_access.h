// TrialAccess: what the floors above may do with a trial beyond its public interface.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "data/format/output_report.h"
#include "read/trial/step_table.h"
#include "read/trial/worker_journal.h"
#include "store/journal/journal_reader.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden {

using WorkerEventVisitor = std::function<void(const std::string& worker, const journal::EventEntry& event)>;

class TrialAccess {
 public:
  // As Trial::open(), of a run in any storage. `clock` must outlive the trial.
  static Result<std::unique_ptr<Trial>> open(const storage::Location& run, const TrialOptions& options = {},
                                             const Clock& clock = system_clock());

  // Where the run lies, for who reads or writes beside the trial.
  static const storage::Location& location(const Trial& trial);

  // What the trial's looks at the run have taken of the processor so far.
  static std::int64_t refresh_ns(const Trial& trial);

  static const journal::RunInfo& run_info(const Trial& trial);
  // Tells the run from every other one, also from one that was made later in the same folder (journal::run_identity).
  // Empty for a run of smdebug's that has no step yet.
  static std::string identity(const Trial& trial);
  // Looks at the folder again: is it still this run that lies there? kFailedPrecondition when it is another one by now,
  // kNotFound when none is. One small file is read.
  static Status check_same_run(const Trial& trial);
  // kFailedPrecondition for a folder that another recorder wrote: those are only read. `wanted` is for the message:
  // "a request to stop".
  static Status check_writable(const Trial& trial, std::string_view wanted);
  // Gives `visit` all events of the workers' journals as of the last refresh, worker by worker, in the order of
  // writing. What cannot be read now is left out and logged.
  static void visit_events(const Trial& trial, const WorkerEventVisitor& visit);
  // The workers that a process is writing for, as of the last refresh.
  static std::vector<std::string> living_workers(const Trial& trial);
  // Has a worker said, in a stop_accepted event, that it takes a request to stop? As of the last refresh.
  static bool stop_accepted(const Trial& trial);
  // What was read of the workers' output, all together; nothing when none was.
  static std::optional<format::OutputReport> output_report(const Trial& trial);
  // How many pieces of samples there are of all workers and their outputs, and reports on these: whether there is news.
  static std::size_t count_sampled(const Trial& trial);
  // The complete steps after `global_step`, valid until the next refresh.
  static std::span<const trial::StepRow> complete_rows_after(const Trial& trial, std::int64_t global_step);
  // As RunReader::newest_step_of(); none where there is no such tensor either.
  static std::optional<std::int64_t> newest_step_of(Trial& trial, std::string_view tensor, Kept kept,
                                                    Mode mode = Mode::kGlobal);
  // When the worker ended the step; 0 when that is not known.
  static std::int64_t step_unix_ns(const Trial& trial, std::string_view worker, std::int64_t global_step);
  // When the last of all workers ended it; 0 when that is not known.
  static std::int64_t step_unix_ns(const Trial& trial, std::int64_t global_step);
  // The tensors of all workers, and their collections.
  static trial::TensorCatalog& catalog(Trial& trial);
  // The workers' journals, by rank, for who walks all records of a run. As of the last refresh; valid until the next.
  static std::vector<trial::WorkerJournal*> journals(Trial& trial);
  // The journals whose samples come at ticks: those of workers and machines. Valid as those of journals().
  static std::vector<trial::SampledJournal*> steadily_sampled(Trial& trial);
};

}  // namespace trainwarden
