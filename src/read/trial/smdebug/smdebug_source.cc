#include "read/trial/smdebug/smdebug_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "data/foreign/smdebug_layout.h"
#include "read/trial/smdebug/index_files.h"
#include "read/trial/smdebug/manifests.h"
#include "read/trial/smdebug/smdebug_journal.h"
#include "read/trial/smdebug/worker_contents.h"
#include "store/journal/journal_contents.h"

namespace trainwarden::trial {
namespace {

constexpr std::uint64_t kPlaceCost = 192;

// What the index takes in memory on all floors, about; that a name is known already is left out of it.
std::uint64_t cost_of(const foreign::SmdebugIndex& index) {
  std::uint64_t cost = journal::kStepCost;
  for (const foreign::SmdebugTensorPlace& place : index.tensors) cost += kPlaceCost + place.tag.size();
  for (const foreign::SmdebugShape& shape : index.shapes) cost += kPlaceCost + shape.tensor.size();
  return cost;
}

class SmdebugSource final : public RunSource {
 public:
  SmdebugSource(std::shared_ptr<const storage::Storage> storage, std::shared_ptr<ReadBudget> budget)
      : storage_(std::move(storage)), budget_(std::move(budget)), manifests_(*storage_), index_files_(*storage_) {}

  std::string_view recorder() const override { return "smdebug"; }
  const journal::RunInfo& info() const override { return info_; }
  Status refresh(std::int64_t last_complete_step) override;
  std::vector<SourceWorker> workers() const override;
  std::vector<Collection> take_collections() override { return manifests_.take_collections(); }
  Result<std::unique_ptr<journal::JournalReader>> open_journal(const SourceWorker& worker) override {
    return std::unique_ptr<journal::JournalReader>(
        std::make_unique<SmdebugJournal>(*storage_, *budget_, contents_of(worker.name), ended_));
  }
  bool is_writing(const SourceWorker& /*worker*/) const override { return !ended_; }
  bool has_ended(const WorkerLife& /*worker*/) const override { return ended_; }
  RunState state(std::span<const WorkerLife> /*workers*/) const override {
    return ended_ ? RunState::kCompleted : RunState::kRunning;
  }
  std::vector<RunLoss> losses(RunState state) const override;
  Status check_same_run() const override;
  std::string describe() const override { return storage_->describe(""); }

 private:
  struct Worker {
    int rank = 0;
    WorkerContents contents;
  };

  // Of the run, among those with values.
  struct FirstStep {
    std::int64_t step = 0;
    std::string worker;
    std::size_t step_index = 0;
  };

  WorkerContents& contents_of(const std::string& worker);
  Status take_in(const IndexFile& file, std::uint64_t file_bytes, const foreign::SmdebugIndex& index);
  void identify();
  std::int64_t first_unix_ns(const WorkerContents& contents) const;

  const std::shared_ptr<const storage::Storage> storage_;
  const std::shared_ptr<ReadBudget> budget_;
  Manifests manifests_;
  IndexFiles index_files_;
  std::map<std::string, Worker> workers_;
  journal::RunInfo info_;
  std::optional<FirstStep> first_;
  bool ended_ = false;  // the marker was there, and all that was written before it has been read
};

// The marker is looked at before the files: all that was written before it is then read.
Status SmdebugSource::refresh(std::int64_t last_complete_step) {
  const bool marked = storage_->exists(std::string(foreign::kSmdebugEndMarker));
  Status status = manifests_.refresh();
  for (const std::string& worker : manifests_.workers()) contents_of(worker);

  // When the run has ended all folders are looked into once more: the window may have passed a straggler by.
  const std::int64_t first_step = marked && !ended_ ? 0 : std::max<std::int64_t>(last_complete_step, 0);
  const Status indexes = index_files_.refresh(
      first_step, [this](const IndexFile& file, std::uint64_t file_bytes, const foreign::SmdebugIndex& index) {
        return take_in(file, file_bytes, index);
      });
  if (status.ok()) status = indexes;
  if (status.ok()) ended_ = marked;
  const int announced = manifests_.announced_workers();  // its word holds, whatever names are seen
  info_.world_size = announced > 0 ? announced : std::max(info_.world_size, static_cast<int>(workers_.size()));
  if (first_ && info_.created_unix_ns == 0) identify();
  return status;
}

Status SmdebugSource::take_in(const IndexFile& file, std::uint64_t file_bytes, const foreign::SmdebugIndex& index) {
  budget_->earn(file_bytes);
  TRAINWARDEN_RETURN_IF_ERROR(budget_->hold(cost_of(index), file.path));
  WorkerContents& contents = contents_of(file.worker);
  TRAINWARDEN_RETURN_IF_ERROR(contents.take_in(file.step, index));
  const bool is_first = !first_ || std::tie(file.step, file.worker) < std::tie(first_->step, first_->worker);
  if (index.tensors.empty() || index.event_file.empty() || !is_first) return {};
  first_ = FirstStep{file.step, file.worker, contents.steps().size() - 1};
  info_.created_unix_ns = 0;
  return {};
}

WorkerContents& SmdebugSource::contents_of(const std::string& worker) {
  const auto known = workers_.find(worker);
  if (known != workers_.end()) return known->second.contents;
  const int rank = static_cast<int>(workers_.size());
  return workers_.emplace(worker, Worker{rank, WorkerContents(worker)}).first->second.contents;
}

std::vector<SourceWorker> SmdebugSource::workers() const {
  std::vector<SourceWorker> workers;
  for (const auto& [name, worker] : workers_) workers.push_back({name, worker.rank});
  return workers;
}

// The wall time of the first step is the run's creation; with its worker and a tensor it tells the run from others.
// Empty and 0 until the step's values can be read.
void SmdebugSource::identify() {
  const WorkerContents& contents = contents_of(first_->worker);
  info_.created_unix_ns = first_unix_ns(contents);
  if (info_.created_unix_ns == 0) return;
  const journal::Record& record = contents.records(first_->step_index)[0];
  const std::string& tensor = contents.tensors()[record.tensor].name;
  info_.id = fmt::format("{:016x}{:08x}{:08x}", info_.created_unix_ns, crc32c(as_bytes(first_->worker)),
                         crc32c(as_bytes(tensor)));
}

// As its file says now.
std::int64_t SmdebugSource::first_unix_ns(const WorkerContents& contents) const {
  return SmdebugJournal(*storage_, *budget_, contents, ended_).unix_ns(first_->step_index);
}

Status SmdebugSource::check_same_run() const {
  if (!holds_smdebug_run(*storage_)) {
    return Status(Code::kNotFound, fmt::format("the run at {} is gone", storage_->describe("")));
  }
  if (info_.created_unix_ns == 0) return {};  // without a step it has nothing that tells it from others
  if (first_unix_ns(workers_.at(first_->worker).contents) == info_.created_unix_ns) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("{} holds another run by now: its first step is not the one of the run {}; open it again",
                            storage_->describe(""), info_.id));
}

std::vector<RunLoss> SmdebugSource::losses(RunState state) const {
  std::vector<RunLoss> losses = manifests_.losses();
  const std::vector<RunLoss> unusable = index_files_.losses();
  losses.insert(losses.end(), unusable.begin(), unusable.end());
  const auto silent = std::max<std::int64_t>(info_.world_size - static_cast<std::int64_t>(workers_.size()), 0);
  if (state != RunState::kRunning && silent > 0) {
    losses.push_back({std::string(foreign::kSmdebugManifestFolder), "worker never started",
                      static_cast<std::uint64_t>(silent), 0, true});
  }
  return losses;
}

}  // namespace

bool holds_smdebug_run(const storage::Storage& storage) {
  return storage.exists("collections") || storage.exists(std::string(foreign::kSmdebugIndexFolder));
}

Result<std::unique_ptr<RunSource>> open_smdebug_source(std::shared_ptr<const storage::Storage> storage,
                                                       std::shared_ptr<ReadBudget> budget) {
  return std::unique_ptr<RunSource>(std::make_unique<SmdebugSource>(std::move(storage), std::move(budget)));
}

}  // namespace trainwarden::trial
