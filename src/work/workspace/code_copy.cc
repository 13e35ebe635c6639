#include "work/workspace/code_copy.h"

#include <cstdint>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

class CodeCopy {
 public:
  Status copy_folder(const fs::path& source, const fs::path& target) {
    std::error_code error;
    fs::create_directories(target, error);
    for (fs::directory_iterator at(source, error), end; !error && at != end; at.increment(error)) {
      TRAINWARDEN_RETURN_IF_ERROR(copy_entry(*at, target / at->path().filename()));
    }
    return error ? failed(source, error) : Status();
  }

 private:
  static Status failed(const fs::path& path, const std::error_code& error) {
    return Status(Code::kInternal, fmt::format("cannot copy {}: {}", printable(path.string()), error.message()));
  }

  Status copy_entry(const fs::directory_entry& entry, const fs::path& target) {
    const std::string name = entry.path().filename().string();
    if (name == ".git" || name == "__pycache__") return Status();
    std::error_code error;
    if (entry.is_symlink(error)) {
      fs::copy_symlink(entry.path(), target, error);
    } else if (entry.is_directory(error)) {
      return copy_folder(entry.path(), target);
    } else if (entry.is_regular_file(error)) {
      TRAINWARDEN_RETURN_IF_ERROR(count(entry));
      fs::copy_file(entry.path(), target, error);
    }
    return error ? failed(entry.path(), error) : Status();
  }

  Status count(const fs::directory_entry& file) {
    std::error_code ignored;
    bytes_ += file.file_size(ignored);
    if (++files_ <= kMaxCodeFiles && bytes_ <= kMaxCodeBytes) return Status();
    return Status(
        Code::kResourceExhausted,
        fmt::format("source_dir: the sources are more than {} files or {}, at {}; name data as inputs, or leave "
                    "source_dir out: then the program runs where it lies",
                    kMaxCodeFiles, format_bytes(kMaxCodeBytes), printable(file.path().string())));
  }

  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

Status copy_all(const fs::path& source, const std::vector<fs::path>& dependencies, const fs::path& target) {
  CodeCopy copy;
  TRAINWARDEN_RETURN_IF_ERROR(copy.copy_folder(source, target));
  for (const fs::path& dependency : dependencies) {
    TRAINWARDEN_RETURN_IF_ERROR(copy.copy_folder(dependency, target / dependency.filename()));
  }
  return Status();
}

}  // namespace

Status copy_code(const fs::path& source, const std::vector<fs::path>& dependencies, const fs::path& target) {
  const Status copied = copy_all(source, dependencies, target);
  std::error_code ignored;
  if (!copied.ok()) fs::remove_all(target, ignored);
  return copied;
}

}  // namespace trainwarden::workspace
