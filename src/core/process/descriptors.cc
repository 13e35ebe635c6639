#include "core/process/descriptors.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/text.h"

namespace trainwarden::process {
namespace {

constexpr int kFirstAboveStandard = 3;

FileDescriptor above_standard(int number) {
  FileDescriptor given(number);
  if (number < 0 || number >= kFirstAboveStandard) return given;
  return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, kFirstAboveStandard));
}

Status no_room(std::string_view what) {
  return Status(Code::kUnavailable, fmt::format("{} for a program: {}", what, std::strerror(errno)));
}

Result<FileDescriptor> open_file(const std::string& path, int flags) {
  FileDescriptor file = above_standard(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (file.is_open()) return file;
  const Code code = errno == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
  return Status(code, fmt::format("cannot write {}: {}", printable(path), std::strerror(errno)));
}

}  // namespace

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_room("no pipe");
  Pipe made{above_standard(ends[0]), above_standard(ends[1])};
  if (!made.reading.is_open() || !made.writing.is_open()) return no_room("no pipe");
  ::fcntl(made.reading.get(), F_SETFL, O_NONBLOCK);
  return made;
}

Result<SocketPair> open_socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return no_room("no socket");
  SocketPair made{above_standard(ends[0]), above_standard(ends[1])};
  if (!made.ours.is_open() || !made.theirs.is_open()) return no_room("no socket");
  ::fcntl(made.ours.get(), F_SETFL, O_NONBLOCK);
  return made;
}

Result<FileDescriptor> open_memory_file(std::string_view text) {
  FileDescriptor file = above_standard(::memfd_create("trainwarden-input", MFD_CLOEXEC));
  if (!file.is_open()) return no_room("no file in memory");
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return no_room("no room in memory");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return no_room("no file in memory");
  return file;
}

Result<FileDescriptor> open_null() {
  return open_file("/dev/null", O_RDWR);
}

Result<FileDescriptor> open_output_file(const std::string& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
}

Result<FileDescriptor> open_log_file(const std::string& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_APPEND);
}

}  // namespace trainwarden::process
