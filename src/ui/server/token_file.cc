#include "ui/server/token_file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"

namespace trainwarden::server {
namespace {

namespace fs = std::filesystem;

Status cannot_write(const fs::path& file) {
  const Code code = errno == ELOOP ? Code::kPermissionDenied : Code::kUnavailable;
  return Status(code, fmt::format("cannot write the token to {}: {}", file.string(), std::strerror(errno)));
}

std::string first_bytes(const fs::path& file) {
  std::array<char, 128> bytes{};
  const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return "";
  const ssize_t count = read(descriptor, bytes.data(), bytes.size());
  close(descriptor);
  return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

fs::path default_token_file(std::uint16_t port) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  if (folder == nullptr || *folder != '/' || !fs::is_directory(folder, ignored)) return {};
  return fs::path(folder) / fmt::format("trainwarden-{}.token", port);
}

Status write_token_file(const fs::path& file, std::string_view token) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return cannot_write(file);
  const std::string line = fmt::format("{}\n", token);
  const bool written =
      fchmod(descriptor, 0600) == 0 && write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const Status status = written ? Status() : cannot_write(file);
  close(descriptor);
  return status;
}

void remove_token_file(const fs::path& file, std::string_view token) {
  if (first_bytes(file) != fmt::format("{}\n", token)) return;
  if (unlink(file.c_str()) != 0) log(LogLevel::kWarning, "cannot remove {}: {}", file.string(), std::strerror(errno));
}

}  // namespace trainwarden::server
