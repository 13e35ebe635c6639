#include "read/trial/smdebug/index_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::trial {
namespace {

constexpr std::int64_t kStepsPerFolder = foreign::kSmdebugStepsPerFolder;

// Read at once; bounds what is in memory of them.
constexpr std::size_t kBatchFiles = 4096;

// Of files that could not be used, at each refresh. A hostile run has hundreds of megabytes of them.
constexpr std::uint64_t kMostRetriedBytes = 16u << 20;

}  // namespace

Status IndexFiles::refresh(std::int64_t first_step, const Take& take) {
  reader_.forget_unusable();
  retry_unusable(take);
  const std::string root(foreign::kSmdebugIndexFolder);
  const auto folders = storage_.list(root);
  if (!folders.ok()) return folders.status().code() == Code::kNotFound ? Status() : folders.status();
  Status failure;
  for (const std::string& folder : *folders) {
    const auto number = foreign::number_of_index_folder(folder);
    if (!number || *number < first_step / kStepsPerFolder) continue;
    const Status status = read_folder(fmt::format("{}/{}", root, folder), take);
    if (!status.ok() && failure.ok()) failure = status;
  }
  return failure;
}

void IndexFiles::retry_unusable(const Take& take) {
  std::vector<const Unusable*> smallest_first;
  for (const auto& [path, unusable] : unusable_) smallest_first.push_back(&unusable);
  std::stable_sort(smallest_first.begin(), smallest_first.end(),
                   [](const Unusable* a, const Unusable* b) { return a->bytes < b->bytes; });
  std::vector<IndexFile> files;
  std::uint64_t bytes = 0;
  for (const Unusable* unusable : smallest_first) {
    bytes += unusable->bytes;
    if (bytes > kMostRetriedBytes) break;
    files.push_back(unusable->file);
  }
  std::sort(files.begin(), files.end(), [](const IndexFile& a, const IndexFile& b) { return a.path < b.path; });
  read(files, take);
}

// The storage lists names sorted, which is by step and then by worker.
Status IndexFiles::read_folder(const std::string& folder, const Take& take) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, storage_.list(folder));
  std::vector<IndexFile> files;
  for (const std::string& name : names) {
    const auto parts = foreign::parse_smdebug_index_name(name);
    if (!parts) continue;
    std::string worker = foreign::deserialise_worker(parts->worker);
    if (is_taken(worker, parts->step)) continue;
    std::string path = fmt::format("{}/{}", folder, name);
    if (!unusable_.contains(path)) files.push_back({std::move(path), parts->step, std::move(worker)});
  }
  read(files, take);
  return {};
}

void IndexFiles::read(std::span<const IndexFile> files, const Take& take) {
  while (!files.empty()) {
    const auto batch = files.first(std::min(files.size(), kBatchFiles));
    const std::span<const ReadIndex> indexes = reader_.read(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      // A step may have a .csv file and a .json file; one is enough.
      const bool repeated = is_taken(batch[i].worker, batch[i].step);
      const ReadIndex& read = indexes[i];
      settle(batch[i], read.file_bytes,
             read.status.ok() && !repeated ? take(batch[i], read.file_bytes, read.index) : read.status);
    }
    files = files.subspan(batch.size());
  }
}

void IndexFiles::settle(const IndexFile& file, std::uint64_t bytes, const Status& status) {
  if (!status.ok()) {
    unusable_[file.path] = {file, status.message(), bytes};
    return;
  }
  unusable_.erase(file.path);
  taken_[file.worker][file.step / kStepsPerFolder].set(static_cast<std::size_t>(file.step % kStepsPerFolder));
}

bool IndexFiles::is_taken(const std::string& worker, std::int64_t step) const {
  const auto of_worker = taken_.find(worker);
  if (of_worker == taken_.end()) return false;
  const auto of_folder = of_worker->second.find(step / kStepsPerFolder);
  return of_folder != of_worker->second.end() &&
         of_folder->second.test(static_cast<std::size_t>(step % kStepsPerFolder));
}

std::vector<RunLoss> IndexFiles::losses() const {
  std::vector<RunLoss> losses;
  for (const auto& [path, unusable] : unusable_) {
    losses.push_back({path, fmt::format("unusable index file: {}", unusable.cause), 1, 0, false});
  }
  return losses;
}

}  // namespace trainwarden::trial
