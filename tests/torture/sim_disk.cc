#include "sim_disk.h"

#include <algorithm>
#include <utility>

#include "store/storage/path_rules.h"

namespace trainwarden::torture {
namespace {

constexpr std::size_t kSectorBytes = 512;

Status failed(Code code, std::string_view action, const std::string& path) {
  return Status(code, fmt::format("cannot {} disk:/{}", action, path));
}

}  // namespace

SimFilePointer SimDisk::make_file(std::string bytes) {
  auto file = std::make_shared<SimFile>();
  file->bytes = std::move(bytes);
  file->identity = ++created_;
  file->changed_unix_ns = clock_.unix_ns();
  return file;
}

Result<SimFilePointer> SimDisk::find(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(storage::check_file_path(path));
  const auto found = files_.find(path);
  return found == files_.end() ? Result<SimFilePointer>(failed(Code::kNotFound, "find", path)) : found->second;
}

Result<SimFilePointer> SimDisk::insert(const std::string& path, std::string bytes) {
  TRAINWARDEN_RETURN_IF_ERROR(storage::check_file_path(path));
  if (!has_folder(std::string(storage::parent_path(path)))) return failed(Code::kNotFound, "create", path);
  if (files_.contains(path) || has_folder(path)) return failed(Code::kAlreadyExists, "create", path);
  if (bytes.size() > room_) return failed(Code::kResourceExhausted, "create", path);
  if (room_ != kEndless) room_ -= bytes.size();
  return files_[path] = make_file(std::move(bytes));
}

// LocalStorage syncs each folder that it has given a name.
Status SimDisk::create_folder(const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(storage::check_path(path));
  for (std::string_view folder = path; !folder.empty(); folder = storage::parent_path(folder)) {
    folders_.emplace(folder);
  }
  return {};
}

std::size_t SimDisk::append(SimFile& file, std::string_view bytes) {
  const std::size_t fits = std::min<std::uint64_t>(bytes.size(), room_);
  file.bytes += bytes.substr(0, fits);
  file.changed_unix_ns = clock_.unix_ns();
  if (room_ != kEndless) room_ -= fits;
  return fits;
}

void SimDisk::sync_name(const std::string& path) {
  const auto found = files_.find(path);
  if (found != files_.end()) kept_files_[path] = found->second;
}

Status SimDisk::replace(const std::string& path, std::string bytes) {
  TRAINWARDEN_RETURN_IF_ERROR(storage::check_file_path(path));
  if (!has_folder(std::string(storage::parent_path(path)))) return failed(Code::kNotFound, "replace", path);
  if (bytes.size() > room_) return failed(Code::kResourceExhausted, "replace", path);
  if (room_ != kEndless) room_ -= bytes.size();
  files_[path] = make_file(std::move(bytes));
  return {};
}

void SimDisk::lose_power() {
  log_.fault(FaultSort::kPowerLoss, "the machine stops");
  std::set<std::string> paths;
  for (const auto& [path, file] : files_) paths.insert(path);
  for (const auto& [path, file] : kept_files_) paths.insert(path);
  Names after;
  for (const std::string& path : paths) {
    const auto shown = files_.find(path), kept = kept_files_.find(path);
    const SimFilePointer left = survivor(path, shown == files_.end() ? nullptr : shown->second,
                                         kept == kept_files_.end() ? nullptr : kept->second);
    if (left != nullptr) after[path] = left;
  }
  files_ = after;
  kept_files_ = std::move(after);
  locks_ = std::make_shared<std::set<std::string>>();
}

// Null: the name is gone.
SimFilePointer SimDisk::survivor(const std::string& path, const SimFilePointer& shown, const SimFilePointer& kept) {
  const bool is_lost = shown != kept && dice_.one_in(2) && !plan_.leaves_out(FaultSort::kLostName);
  if (is_lost) log_.fault(FaultSort::kLostName, "{} is {}", path, kept == nullptr ? "gone" : "what it was before");
  const SimFilePointer chosen = is_lost ? kept : shown;
  if (chosen == nullptr) return nullptr;
  auto left = std::make_shared<SimFile>(*chosen);
  cut(path, *left);
  left->synced_bytes = left->bytes.size();
  return left;
}

// Any length from what was synced on, and any sectors of that never written.
void SimDisk::cut(const std::string& path, SimFile& file) {
  const std::size_t unsynced = file.bytes.size() - file.synced_bytes;
  if (unsynced == 0 || plan_.leaves_out(FaultSort::kLostBytes)) return;
  const std::uint64_t way = dice_.roll(4);
  const std::size_t left = way == 0 ? 0 : way == 1 ? unsynced : dice_.roll(unsynced + 1);
  file.bytes.resize(file.synced_bytes + left);
  std::size_t zeroed = 0;
  const bool has_holes = dice_.one_in(2);
  for (std::size_t begin = file.synced_bytes; has_holes && begin < file.bytes.size();) {
    const std::size_t end = std::min(file.bytes.size(), (begin / kSectorBytes + 1) * kSectorBytes);
    if (dice_.one_in(4)) {
      std::fill(file.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                file.bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
      zeroed += end - begin;
    }
    begin = end;
  }
  if (left == unsynced && zeroed == 0) return;
  log_.fault(FaultSort::kLostBytes, "{}: {} of {} unsynced bytes left, {} of them zeros", path, left, unsynced, zeroed);
}

}  // namespace trainwarden::torture
