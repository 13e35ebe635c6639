#include "react/actions/secret.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"

namespace trainwarden::actions {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

Result<std::string> read_small_file(const std::string& path, const std::string& place) {
  // Without O_NONBLOCK a named pipe that nobody writes would be waited for.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open() && (errno == ENOENT || errno == ENOTDIR)) {
    return Status(Code::kNotFound, fmt::format("{} is not there; a secret is expected in it", place));
  }
  std::string content;
  std::array<char, 4096> part{};
  ssize_t bytes = file.is_open() ? 0 : -1;
  while (file.is_open() && (bytes = ::read(file.get(), part.data(), part.size())) > 0) {
    content.append(part.data(), static_cast<std::size_t>(bytes));
    if (content.size() > kMostBytes) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} has more than {}; a secret is expected in it, and nothing else", place,
                                format_bytes(kMostBytes)));
    }
  }
  if (bytes < 0) {
    return Status(Code::kPermissionDenied, fmt::format("cannot read {}: {}", place, std::strerror(errno)));
  }
  return content;
}

}  // namespace

Secret Secret::in_environment(std::string variable) {
  return {Place::kEnvironment, std::move(variable)};
}

Secret Secret::in_file(std::string path) {
  return {Place::kFile, std::move(path)};
}

Result<std::string> Secret::read() const {
  std::string value;
  if (place_ == Place::kEnvironment) {
    const char* const found = std::getenv(name_.c_str());
    if (found == nullptr) {
      return Status(Code::kNotFound,
                    fmt::format("{} is not set in the environment; a secret is expected in it", describe()));
    }
    value = found;
  } else {
    TRAINWARDEN_ASSIGN_OR_RETURN(value, read_small_file(name_, describe()));
    value.erase(value.find_last_not_of("\r\n") + 1);
  }
  if (value.empty()) {
    return Status(Code::kNotFound, fmt::format("{} is empty; a secret is expected in it", describe()));
  }
  return value;
}

std::string Secret::describe() const {
  return printable(place_ == Place::kEnvironment ? "$" + name_ : "the file " + name_);
}

}  // namespace trainwarden::actions
