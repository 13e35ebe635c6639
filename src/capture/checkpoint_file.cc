#include "capture/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "capture/black_box/box_files.h"
#include "format/control_record.h"
#include "storage/file_descriptor.h"
#include "storage/local_file.h"
#include "storage/system_error.h"
#include "store/no_throw.h"

namespace trainwarden::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxFileNames = 1000;  // at a name that nobody has taken

// What a killed process leaves of it is the next one's to write over.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) { ::unlink(path_.c_str()); }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

Status sync_file(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return Status(Code::kNotFound, fmt::format("the program was to write the checkpoint to {}, and there is no file; "
                                               "let it write there, or save elsewhere and say where",
                                               file.string()));
  }
  const storage::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.get() < 0) return storage::system_error(errno, "open", file.string());
  if (::fsync(opened.get()) != 0) return storage::system_error(errno, "sync", file.string());
  return Status();
}

// Where links are not supported the name is looked for first: only this worker writes names with its rank.
Status give_name(const fs::path& file, const fs::path& name) {
  if (::link(file.c_str(), name.c_str()) == 0) return Status();
  const int failed = errno;
  if (failed != EPERM && failed != EOPNOTSUPP && failed != ENOSYS) {
    return storage::system_error(failed, "create", name.string());
  }
  if (::access(name.c_str(), F_OK) == 0) return storage::system_error(EEXIST, "create", name.string());
  if (::rename(file.c_str(), name.c_str()) == 0) return Status();
  return storage::system_error(errno, "create", name.string());
}

Result<fs::path> give_free_name(const fs::path& file, const fs::path& folder, const CheckpointName& wanted) {
  for (int attempt = 0; attempt < kMaxFileNames; ++attempt) {
    fs::path name = folder / fmt::format("{}{}", dump_name(wanted.step, wanted.rank, attempt), wanted.ending);
    const Status given = give_name(file, name);
    if (given.ok()) return name;
    if (given.code() != Code::kAlreadyExists) return given;
  }
  return Status(Code::kAlreadyExists,
                fmt::format("{} is full of checkpoints of step {}; move some away", folder.string(), wanted.step));
}

Result<fs::path> write_file(const CheckpointName& name, const std::function<Status(const fs::path&)>& write) {
  if (name.run_dir.empty()) return Status(Code::kFailedPrecondition, "the run has no folder to save to");
  const fs::path folder = name.run_dir / format::kCheckpointFolder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return storage::system_error(error.value(), "create folder", folder.string());
  const TemporaryFile temporary(folder / fmt::format(".rank-{:05}.tmp", name.rank));
  TRAINWARDEN_RETURN_IF_ERROR(write(temporary.path()));
  TRAINWARDEN_RETURN_IF_ERROR(sync_file(temporary.path()));
  TRAINWARDEN_ASSIGN_OR_RETURN(fs::path given, give_free_name(temporary.path(), folder, name));
  TRAINWARDEN_RETURN_IF_ERROR(storage::sync_local_folder(folder.string()));
  return given;
}

// A folder's are those of all files in it.
std::int64_t bytes_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return static_cast<std::int64_t>(fs::file_size(path, error));
  std::int64_t bytes = 0;
  for (auto entry = fs::recursive_directory_iterator(path, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    if (entry->is_regular_file(error)) bytes += static_cast<std::int64_t>(entry->file_size(error));
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
    return store::no_throw([&] { return write_file(name, write); });
  } catch (...) {  // a program may throw anything
    return Status(Code::kUnknown, "the program threw something that is no std::exception while it saved");
  }
}

Result<CheckpointPlace> look_at_checkpoint(const fs::path& saved, const fs::path& run_dir) {
  return store::no_throw([&]() -> Result<CheckpointPlace> {
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
