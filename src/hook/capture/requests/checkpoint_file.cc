#include "hook/capture/requests/checkpoint_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/no_throw.h"
#include "core/base/owned_descriptor.h"
#include "data/format/control_record.h"
#include "hook/capture/black_box/box_files.h"
#include "store/storage/beneath.h"
#include "store/storage/local_storage.h"
#include "store/storage/naming.h"
#include "store/storage/partial_file.h"
#include "store/storage/system_error.h"

namespace trainwarden::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxFileNames = 1000;  // at a name that nobody has taken
constexpr const char* kTemporaryEnding = ".tmp";

// Of this rank. What killed processes leave of theirs goes when the next one saves: there is one at a time.
std::string temporary_prefix(const CheckpointName& name) {
  return fmt::format(".rank-{:05}.", name.rank);
}

std::string in_folder(const std::string& file) {
  return std::string(format::kCheckpointFolder) + "/" + file;
}

void remove_left_over(const storage::Storage& run, const storage::Beneath& beneath, const std::string& prefix) {
  const auto files = run.list(format::kCheckpointFolder);
  if (!files.ok()) return;
  for (const std::string& file : *files) {
    const bool left_over = file.starts_with(prefix) && file.ends_with(kTemporaryEnding);
    if (left_over) static_cast<void>(storage::remove_local_file(beneath, in_folder(file)));
  }
}

class TemporaryFile {
 public:
  TemporaryFile(const storage::Beneath& beneath, std::string name) : beneath_(beneath), name_(std::move(name)) {}
  ~TemporaryFile() {
    static_cast<void>(no_throw([&] { return storage::remove_local_file(beneath_, in_folder(name_)); }));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& name() const { return name_; }

 private:
  const storage::Beneath& beneath_;
  const std::string name_;
};

Status sync_file(const FileDescriptor& folder, const std::string& name, const fs::path& file) {
  FileDescriptor found(::openat(folder.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  const OwnedDescriptor opened(std::move(found));  // a large file takes a while
  struct stat info {};
  if (!opened.is_open() || ::fstat(opened.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Status(Code::kNotFound, fmt::format("the program was to write the checkpoint to {}, and there is no file; "
                                               "let it write there, or save elsewhere and say where",
                                               file.string()));
  }
  return ::fsync(opened.get()) == 0 ? Status() : storage::system_error(errno, "sync", file.string());
}

// Where the system cannot do both at once the name is looked for first: only this worker writes names with its rank.
Status give_name(const FileDescriptor& folder, const std::string& file, const std::string& name, const fs::path& path) {
  Status given = storage::give_name_if_absent(folder, file, name, path.string());
  if (given.code() != Code::kUnimplemented) return given;
  if (::faccessat(folder.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    return storage::system_error(EEXIST, "create", path.string());
  }
  if (::renameat(folder.get(), file.c_str(), folder.get(), name.c_str()) == 0) return Status();
  return storage::system_error(errno, "create", path.string());
}

Result<fs::path> give_free_name(const FileDescriptor& folder, const std::string& file, const fs::path& path,
                                const CheckpointName& wanted) {
  for (int attempt = 0; attempt < kMaxFileNames; ++attempt) {
    const std::string name = fmt::format("{}{}", dump_name(wanted.step, wanted.rank, attempt), wanted.ending);
    const Status given = give_name(folder, file, name, path / name);
    if (given.ok()) return path / name;
    if (given.code() != Code::kAlreadyExists) return given;
  }
  return Status(Code::kAlreadyExists,
                fmt::format("{} is full of checkpoints of step {}; move some away", path.string(), wanted.step));
}

Result<fs::path> write_file(const CheckpointName& name, const std::function<Status(const fs::path&)>& write) {
  if (name.run_dir.empty()) return Status(Code::kFailedPrecondition, "the run has no folder to save to");
  const auto run = storage::open_local_storage(name.run_dir);
  TRAINWARDEN_RETURN_IF_ERROR(run->create_folder(format::kCheckpointFolder));
  const storage::Beneath beneath(name.run_dir);
  TRAINWARDEN_RETURN_IF_ERROR(
      beneath.open(format::kCheckpointFolder, O_RDONLY | O_DIRECTORY, "write into").status());  // it is no link
  remove_left_over(*run, beneath, temporary_prefix(name));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string random, storage::random_name());
  const TemporaryFile temporary(beneath, temporary_prefix(name) + random + kTemporaryEnding);
  const fs::path path = name.run_dir / format::kCheckpointFolder;
  TRAINWARDEN_RETURN_IF_ERROR(write(path / temporary.name()));
  // No descriptor is held while the program's own code runs, which may close it.
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor folder,
                               beneath.open(format::kCheckpointFolder, O_RDONLY | O_DIRECTORY, "write into"));
  TRAINWARDEN_RETURN_IF_ERROR(sync_file(folder, temporary.name(), path / temporary.name()));
  TRAINWARDEN_ASSIGN_OR_RETURN(fs::path given, give_free_name(folder, temporary.name(), path, name));
  TRAINWARDEN_RETURN_IF_ERROR(storage::sync_folder(folder, path.string()));
  return given;
}

// A folder's are those of all files in it.
std::int64_t bytes_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return static_cast<std::int64_t>(fs::file_size(path, error));
  std::int64_t bytes = 0;
  for (auto entry = fs::recursive_directory_iterator(path, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    if (fs::is_regular_file(entry->symlink_status(error))) bytes += static_cast<std::int64_t>(entry->file_size(error));
  }
  return bytes;
}

// None when it lies elsewhere.
std::optional<std::string> relative_to(const fs::path& folder, const fs::path& path) {
  const fs::path relative = path.lexically_relative(folder);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.generic_string();
}

}  // namespace

Result<fs::path> write_checkpoint_file(const CheckpointName& name,
                                       const std::function<Status(const fs::path&)>& write) {
  try {
    return no_throw([&] { return write_file(name, write); });
  } catch (...) {  // a program may throw anything
    return Status(Code::kUnknown, "the program threw something that is no std::exception while it saved");
  }
}

Result<CheckpointPlace> look_at_checkpoint(const fs::path& saved, const fs::path& run_dir) {
  return no_throw([&]() -> Result<CheckpointPlace> {
    if (saved.empty() || saved.string().find("://") != std::string::npos) return CheckpointPlace{saved.string(), 0};
    const fs::path path = fs::absolute(saved).lexically_normal();
    std::error_code error;
    if (!fs::exists(path, error)) {
      return Status(Code::kNotFound,
                    fmt::format("the program says that it saved {}, and there is no such file", path.string()));
    }
    CheckpointPlace place{path.string(), bytes_of(path)};
    if (run_dir.empty()) return place;
    if (auto inside = relative_to(run_dir.lexically_normal(), path)) {
      place.path = *std::move(inside);
    } else if (auto really = relative_to(fs::weakly_canonical(run_dir), fs::weakly_canonical(path))) {
      place.path = *std::move(really);
    }
    return place;
  });
}

}  // namespace trainwarden::capture
