#include "store/storage/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {

// Without waiting: what lies there by now may be a pipe.
KeptFile::KeptFile(FileDescriptor opened, const Beneath& beneath, std::string path, int flags)
    : file_(std::move(opened)), beneath_(beneath), path_(std::move(path)), flags_(flags | O_NONBLOCK | O_NOCTTY) {}

Result<int> KeptFile::number(std::optional<std::uint64_t> bytes) {
  if (!file_.is_open()) return Status(Code::kFailedPrecondition, fmt::format("{} is not open", described()));
  if (const int number = file_.get(); number >= 0) return number;
  auto again = open_again(bytes);
  if (!again.ok()) {
    return Status(again.status().code(),
                  fmt::format("the program has closed the descriptor of {}: {}; let it close those that it has opened "
                              "itself, or open a hook after that",
                              described(), again.status().message()));
  }
  file_ = *std::move(again);
  log(LogLevel::kDebug, "{} was opened again: the program has closed its descriptor", described());
  return file_.number();
}

Result<OwnedDescriptor> KeptFile::open_again(std::optional<std::uint64_t> bytes) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor found, beneath_.open(path_, flags_, "open again"));
  OwnedDescriptor file(std::move(found));
  if (file.identity() != file_.identity()) {
    return Status(Code::kFailedPrecondition, "another file lies in its place");
  }
  struct stat about {};
  if (bytes && (::fstat(file.number(), &about) != 0 || static_cast<std::uint64_t>(about.st_size) != *bytes)) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("expected {} bytes in it, found {}", *bytes, static_cast<std::int64_t>(about.st_size)));
  }
  return file;
}

Status KeptFile::close() {
  const int error = file_.close();
  return error == 0 ? Status() : system_error(error, "close", described());
}

}  // namespace trainwarden::storage
