#include "read/trial/own_source.h"

#include <string>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::trial {
namespace {

class OwnSource final : public RunSource {
 public:
  OwnSource(std::shared_ptr<const storage::Storage> storage, const Clock& clock, bool verify_payloads,
            std::shared_ptr<ReadBudget> budget, journal::RunInfo info)
      : storage_(std::move(storage)),
        clock_(clock),
        verify_payloads_(verify_payloads),
        budget_(std::move(budget)),
        info_(std::move(info)) {}

  std::string_view recorder() const override { return "trainwarden"; }
  const journal::RunInfo& info() const override { return info_; }
  Status refresh(std::int64_t last_complete_step) override;
  std::vector<SourceWorker> workers() const override { return workers_; }
  std::vector<SourceWorker> outputs() const override { return outputs_; }
  std::vector<SourceWorker> machines() const override { return machines_; }
  std::vector<Collection> take_collections() override { return {}; }
  Result<std::unique_ptr<journal::JournalReader>> open_journal(const SourceWorker& worker) override {
    const journal::JournalReaderOptions options{
        .live = true, .verify_payloads = verify_payloads_, .budget = budget_, .open_files = open_files_};
    return journal::JournalReader::open(*storage_, info_, worker.name, options);
  }
  bool is_writing(const SourceWorker& worker) const override {
    return journal::has_living_writer(*storage_, worker.name);
  }
  bool has_ended(const WorkerLife& worker) const override { return worker.ended(age_ns_); }
  RunState state(std::span<const WorkerLife> workers) const override {
    return run_state(workers, info_.world_size, age_ns_);
  }
  std::vector<RunLoss> losses(RunState state) const override;
  Status check_same_run() const override { return journal::check_same_run(*storage_, info_); }
  std::string describe() const override { return storage_->describe(""); }

 private:
  bool knows(const std::string& worker) const { return known_.contains(worker); }
  Status take_in_worker_facts();
  void look_for_side_journals();

  const std::shared_ptr<const storage::Storage> storage_;
  const Clock& clock_;
  const bool verify_payloads_;
  const std::shared_ptr<ReadBudget> budget_;
  const std::shared_ptr<journal::OpenFiles> open_files_ = std::make_shared<journal::OpenFiles>();
  journal::RunInfo info_;
  std::uint64_t info_file_ = 0;  // identity of the run.json that info_ is of
  std::int64_t age_ns_ = 0;      // as of the last refresh
  std::vector<SourceWorker> workers_;
  std::vector<SourceWorker> outputs_;
  std::vector<SourceWorker> machines_;
  std::unordered_set<std::string> known_;  // names of workers_
};

Status OwnSource::refresh(std::int64_t /*last_complete_step*/) {
  age_ns_ = clock_.unix_ns() - info_.created_unix_ns;
  if (info_.awaits_worker) TRAINWARDEN_RETURN_IF_ERROR(take_in_worker_facts());
  look_for_side_journals();
  if (workers_.size() >= static_cast<std::size_t>(info_.world_size)) return {};
  const auto journals = journal::list_journals(*storage_);
  if (!journals.ok()) return journals.status().code() == Code::kNotFound ? Status() : journals.status();
  for (const std::string& journal : *journals) {
    const auto id = journal::writer_id_of(journal);
    // Others are journals of watchers and of outputs, and other runs' ranks.
    const bool is_worker = id && *id < static_cast<std::uint32_t>(info_.world_size);
    if (is_worker && known_.insert(journal).second) workers_.push_back({journal, static_cast<int>(*id)});
  }
  return {};
}

// The first worker puts another run.json in the place of one that awaits it.
Status OwnSource::take_in_worker_facts() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::FileInfo file, storage_->info(journal::kRunFile));
  if (file.identity != 0 && file.identity == info_file_) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(journal::RunInfo now, journal::read_run(*storage_));
  info_file_ = file.identity;
  if (now.id == info_.id && now.world_size <= kMaxWorldSize) info_ = std::move(now);
  return {};
}

// They are numbered without gaps, so that a look at the next name tells whether there is another.
void OwnSource::look_for_side_journals() {
  const auto look = [this](std::vector<SourceWorker>& writers, int most, std::string (*name_of)(int)) {
    for (int next = static_cast<int>(writers.size()); next < most; ++next) {
      std::string name = name_of(next);
      if (!storage_->exists(journal::journal_folder(name))) return;
      writers.push_back({std::move(name), next});
    }
  };
  look(outputs_, info_.world_size, journal::output_name);
  look(machines_, journal::kMaxMachines, journal::machine_name);
}

std::vector<RunLoss> OwnSource::losses(RunState state) const {
  std::vector<RunLoss> losses;
  if (state == RunState::kRunning || info_.awaits_worker) return losses;
  for (int rank = 0; rank < info_.world_size; ++rank) {
    const std::string worker = journal::worker_name(rank);
    if (!knows(worker)) losses.push_back({journal::journal_folder(worker), "worker never started", 1, 0, true});
  }
  return losses;
}

}  // namespace

Result<std::unique_ptr<RunSource>> open_own_source(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                   bool verify_payloads, std::shared_ptr<ReadBudget> budget) {
  TRAINWARDEN_ASSIGN_OR_RETURN(journal::RunInfo info, journal::read_run(*storage));
  if (info.world_size > kMaxWorldSize) {
    return Status(Code::kDataLoss, fmt::format("{} speaks of {} workers; there are at most {}, so it is damaged",
                                               storage->describe(journal::kRunFile), info.world_size, kMaxWorldSize));
  }
  return std::unique_ptr<RunSource>(
      std::make_unique<OwnSource>(std::move(storage), clock, verify_payloads, std::move(budget), std::move(info)));
}

}  // namespace trainwarden::trial
