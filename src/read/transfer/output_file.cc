#include "read/transfer/output_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "store/storage/system_error.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

Status make_folder_of(const fs::path& path) {
  if (!path.has_parent_path()) return {};
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return error ? storage::system_error(error.value(), "create the folder", path.parent_path().string()) : Status();
}

}  // namespace

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
  ::unlink(temporary.c_str());  // of a process that was killed; a link would be written through
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return storage::system_error(errno, "create", temporary);
  return std::unique_ptr<OutputFile>(new OutputFile(descriptor, path, false, tally));
}

Result<std::unique_ptr<OutputFile>> OutputFile::create_growing(const fs::path& path, OutputTally& tally) {
  TRAINWARDEN_RETURN_IF_ERROR(make_folder_of(path));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return storage::system_error(errno, "create", path.string());
  ++tally.files;
  return std::unique_ptr<OutputFile>(new OutputFile(descriptor, path, true, tally));
}

Status OutputFile::append(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return storage::system_error(errno, "write", path_.string());
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
    return storage::system_error(error, "write", path_.string());
  }
  if (growing_) return {};
  if (::rename(written_path().c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(written_path().c_str());
    return storage::system_error(error, "give its name to", path_.string());
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
