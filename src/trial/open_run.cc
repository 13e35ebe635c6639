#include "trial/open_run.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainwarden::trial {

OpenRun::OpenRun(std::shared_ptr<const storage::Storage> storage, const Clock& clock, const TrialOptions& options,
                 store::RunInfo info)
    : storage_(std::move(storage)),
      clock_(clock),
      options_(options),
      info_(std::move(info)),
      ledger_(info_.world_size, options.incomplete_step_window) {}

Result<std::unique_ptr<OpenRun>> OpenRun::open(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                               const TrialOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(store::RunInfo info, store::read_run(*storage));
  if (info.world_size > kMaxWorldSize) {
    return Status(Code::kDataLoss, fmt::format("{} speaks of {} workers; there are at most {}, so it is damaged",
                                               storage->describe(store::kRunFile), info.world_size, kMaxWorldSize));
  }
  std::unique_ptr<OpenRun> run(new OpenRun(std::move(storage), clock, options, std::move(info)));
  TRAINWARDEN_RETURN_IF_ERROR(run->refresh());
  return run;
}

Status OpenRun::refresh() {
  const std::int64_t age_ns = clock_.unix_ns() - info_.created_unix_ns;
  Status failure = find_workers();
  std::vector<WorkerLife> lives;
  for (const auto& worker : workers_) {
    Status status = worker->refresh();
    if (!status.ok() && failure.ok()) failure = status.with_context(worker->name());
    ledger_.set_worker_ended(worker->rank(), worker->life().ended(age_ns));
    lives.push_back(worker->life());
  }
  // What could not be read now may tell that the run goes on: no end is concluded from it.
  if (failure.ok()) state_ = run_state(lives, info_.world_size, age_ns);
  ledger_.set_finished(state_ != RunState::kRunning);
  ledger_.settle();
  return failure;
}

Status OpenRun::find_workers() {
  if (workers_.size() >= static_cast<std::size_t>(info_.world_size)) return {};
  const auto journals = store::list_journals(*storage_);
  if (!journals.ok()) return journals.status().code() == Code::kNotFound ? Status() : journals.status();
  for (const std::string& journal : *journals) add_worker(journal);
  return {};
}

void OpenRun::add_worker(const std::string& journal) {
  const auto id = store::writer_id_of(journal);
  if (!id || *id >= static_cast<std::uint32_t>(info_.world_size)) return;  // watch journals, and other runs' ranks
  if (find_worker(journal) != nullptr) return;
  const int rank = static_cast<int>(*id);
  const auto place = std::find_if(workers_.begin(), workers_.end(), [&](const auto& w) { return w->rank() > rank; });
  workers_.insert(place,
                  std::make_unique<WorkerJournal>(*storage_, info_, rank, options_.verify_payloads, ledger_, catalog_));
}

WorkerJournal* OpenRun::find_worker(std::string_view name) const {
  for (const auto& worker : workers_) {
    if (worker->name() == name) return worker.get();
  }
  return nullptr;
}

std::vector<RunLoss> OpenRun::losses() const {
  std::vector<RunLoss> losses;
  for (const auto& worker : workers_) {
    losses.insert(losses.end(), worker->losses().begin(), worker->losses().end());
  }
  if (state_ == RunState::kRunning) return losses;
  for (int rank = 0; rank < info_.world_size; ++rank) {
    const std::string worker = store::worker_name(rank);
    if (find_worker(worker) != nullptr) continue;
    losses.push_back({store::journal_folder(worker), "worker never started", 1, 0, true});
  }
  return losses;
}

std::vector<std::int64_t> OpenRun::steps_of(const CatalogTensor& tensor, Mode mode, bool include_incomplete) {
  std::vector<std::int64_t> steps;
  for (const auto& worker : workers_) {
    const auto index = worker->tensor(tensor);
    if (!index) continue;
    for (const Posting& posting : worker->tensor_index().of(*index)) {
      const std::int64_t global_step = worker->reader().steps()[posting.step_index].global_step;
      const LedgerStep* step = ledger_.find(global_step);
      const bool replaced = worker->step_index(global_step) != posting.step_index;
      if (step == nullptr || replaced || (mode != Mode::kGlobal && step->mode != mode)) continue;
      if (!include_incomplete && global_step > ledger_.last_complete_step()) continue;
      steps.push_back(mode == Mode::kGlobal ? global_step : step->mode_step);
    }
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace trainwarden::trial
