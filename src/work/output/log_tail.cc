#include "work/output/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::output {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

Status cannot_follow(const std::filesystem::path& file, const char* why, Code code) {
  return Status(code,
                fmt::format("{}: expected the file that the program prints into: {}", printable(file.string()), why));
}

}  // namespace

Result<LogTail> LogTail::open_at_end(const std::filesystem::path& file) {
  // Without waiting: should it be a pipe, nobody may have its other end.
  FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
    return cannot_follow(file, std::strerror(errno), code);
  }
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return cannot_follow(file, "it is no regular file", Code::kInvalidArgument);
  }
  return LogTail(std::move(descriptor), static_cast<std::uint64_t>(facts.st_size));
}

Result<LogTail> LogTail::open_at(const std::filesystem::path& file, std::uint64_t offset) {
  TRAINWARDEN_ASSIGN_OR_RETURN(LogTail tail, open_at_end(file));
  tail.offset_ = offset;
  return tail;
}

LogTail::LogTail(FileDescriptor file, std::uint64_t offset)
    : file_(std::move(file)), piece_(kPieceBytes, '\0'), offset_(offset) {}

Result<std::string_view> LogTail::read() {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) < offset_) {
    offset_ = 0;
    ++restarts_;
  }
  const ssize_t bytes = ::pread(file_.get(), piece_.data(), piece_.size(), static_cast<off_t>(offset_));
  if (bytes < 0) return Status(Code::kUnavailable, fmt::format("the output cannot be read: {}", std::strerror(errno)));
  offset_ += static_cast<std::uint64_t>(bytes);
  bytes_ += static_cast<std::uint64_t>(bytes);
  return std::string_view(piece_).substr(0, static_cast<std::size_t>(bytes));
}

}  // namespace trainwarden::output
