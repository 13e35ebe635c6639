// RunReader: a run's folder as a reader sees it: its workers' journals, the steps and tensors in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/read_budget.h"
#include "read/trial/output_journal.h"
#include "read/trial/run_source.h"
#include "read/trial/side_journal.h"
#include "read/trial/step_table.h"
#include "read/trial/tensor_catalog.h"
#include "read/trial/worker_journal.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/trial.h"

namespace trainwarden::trial {

// One thread at a time.
class RunReader {
 public:
  // kNotFound when there is no run, kDataLoss when run.json cannot be used. `clock` must outlive the run. What is over
  // the budget for reading a run is among the losses.
  static Result<std::unique_ptr<RunReader>> open(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                 const TrialOptions& options);

  // Takes in what has been written since. A worker whose journal cannot be read now does not keep the others from
  // being read; the first failure is returned.
  Status refresh();

  // What all calls of refresh() have taken of the processor.
  std::int64_t refresh_ns() const { return refresh_ns_; }

  std::string_view recorder() const { return source_->recorder(); }
  const journal::RunInfo& info() const { return source_->info(); }
  RunState state() const { return state_; }
  StepTable& step_table() { return step_table_; }
  TensorCatalog& catalog() { return catalog_; }
  const std::vector<std::unique_ptr<WorkerJournal>>& workers() const { return workers_; }  // by name
  WorkerJournal* find_worker(std::string_view name) const;                                 // null when unknown
  const std::vector<std::unique_ptr<OutputJournal>>& outputs() const { return outputs_; }  // by number
  const std::vector<std::unique_ptr<SideJournal>>& machines() const { return machines_; }  // by number
  // Those of workers, outputs and machines.
  std::vector<SampledJournal*> sampled_journals() const;
  std::vector<RunLoss> losses() const;
  Status check_same_run() const { return source_->check_same_run(); }
  std::string describe() const { return source_->describe(); }

  // The steps that hold the tensor, or any tensor when it is null, in one of the forms.
  std::vector<std::int64_t> steps_of(const CatalogTensor* tensor, Kept kept, Mode mode, bool include_incomplete);
  // The last complete global step of the mode (kGlobal: of any) that holds the tensor in one of the forms. Looks back
  // from the end of the run as far as it must. `kept` says forms, not kFullest.
  std::optional<std::int64_t> newest_step_of(const CatalogTensor& tensor, Kept kept, Mode mode);

 private:
  RunReader(std::unique_ptr<RunSource> source, const TrialOptions& options, std::shared_ptr<ReadBudget> budget);
  Status refresh_all_parts();
  Status refresh_source();
  void add_worker(const SourceWorker& worker);
  Status refresh_side_journals();
  std::vector<WorkerLife> lives() const;

  const std::unique_ptr<RunSource> source_;
  StepTable step_table_;
  TensorCatalog catalog_;
  std::vector<std::unique_ptr<WorkerJournal>> workers_;
  std::vector<std::unique_ptr<OutputJournal>> outputs_;
  std::vector<std::unique_ptr<SideJournal>> machines_;
  RunState state_ = RunState::kRunning;
  std::int64_t refresh_ns_ = 0;
};

}  // namespace trainwarden::trial
