#include "transfer/output_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

Status make_folder_of(const fs::path& path) {
  if (!path.has_parent_path()) return {};
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return error ? system_failure(error.value(), "cannot create the folder", path.parent_path()) : Status();
}

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE: return Code::kResourceExhausted;
    default: return Code::kInternal;
  }
}

}  // namespace

Status system_failure(int error, std::string_view what, const fs::path& path) {
  return Status(code_of(error), fmt::format("{} {}: {}", what, printable(path.string()), std::strerror(error)));
}

OutputFile::OutputFile(int descriptor, fs::path path, bool growing, OutputTally& tally)
    : descriptor_(descriptor), path_(std::move(path)), growing_(growing), tally_(tally) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!growing_) ::unlink(written_path().c_str());
}

fs::path OutputFile::written_path() const {
  return growing_ ? path_ : fs::path(path_.string() + ".tmp");
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const fs::path& path, OutputTally& tally) {
  TRAINWARDEN_RETURN_IF_ERROR(make_folder_of(path));
  const std::string temporary = path.string() + ".tmp";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_failure(errno, "cannot create", temporary);
  return std::unique_ptr<OutputFile>(new OutputFile(descriptor, path, false, tally));
}

Result<std::unique_ptr<OutputFile>> OutputFile::create_growing(const fs::path& path, OutputTally& tally) {
  TRAINWARDEN_RETURN_IF_ERROR(make_folder_of(path));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_failure(errno, "cannot create", path);
  ++tally.files;
  return std::unique_ptr<OutputFile>(new OutputFile(descriptor, path, true, tally));
}

Status OutputFile::append(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(errno, "cannot write", path_);
    bytes_ += static_cast<std::uint64_t>(written);
    tally_.bytes += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status OutputFile::commit() {
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    const int error = errno;
    if (!growing_) ::unlink(written_path().c_str());
    return system_failure(error, "cannot write", path_);
  }
  if (growing_) return {};
  if (::rename(written_path().c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(written_path().c_str());
    return system_failure(error, "cannot give its name to", path_);
  }
  ++tally_.files;
  return {};
}

Status write_file(const fs::path& path, std::string_view content, OutputTally& tally) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, OutputFile::create(path, tally));
  TRAINWARDEN_RETURN_IF_ERROR(file->append(content));
  return file->commit();
}

}  // namespace trainwarden::transfer
