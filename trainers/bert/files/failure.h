// What the system said of a file, as an exception.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace bert {

// "FILE: WHAT: the system's reason", from errno.
inline std::runtime_error system_failure(const std::filesystem::path& file, const char* what) {
  const char* reason = std::strerror(errno);
  return std::runtime_error(file.string() + ": " + what + ": " + reason);
}

}  // namespace bert
