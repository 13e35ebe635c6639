// TakenNumbers: a program that closes descriptors which it has not opened, and opens files of its own, which get their
// numbers.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"

namespace trainwarden {

// Of this process, that stand for a file whose path begins so.
inline std::vector<int> numbers_of(const std::filesystem::path& beginning) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string file = std::filesystem::read_symlink(entry.path(), error).string();
    if (file.starts_with(beginning.string()))
      found.push_back(static_cast<int>(*parse_int(entry.path().filename().string())));
  }
  return found;
}

class TakenNumbers {
 public:
  explicit TakenNumbers(const std::filesystem::path& beginning) : numbers_(numbers_of(beginning)) {
    for (const int number : numbers_) {
      const FileDescriptor own(::memfd_create("own", MFD_CLOEXEC));
      if (::write(own.get(), kText.data(), kText.size()) > 0) ::dup2(own.get(), number);
    }
  }
  ~TakenNumbers() {
    for (const int number : numbers_) ::close(number);
  }
  TakenNumbers(const TakenNumbers&) = delete;
  TakenNumbers& operator=(const TakenNumbers&) = delete;

  std::size_t size() const { return numbers_.size(); }
  // What was done to one of them: "" for nothing.
  std::string touched() const {
    for (const int number : numbers_) {
      struct stat info {};
      if (::fstat(number, &info) != 0) return "one was closed";
      std::string text(static_cast<std::size_t>(info.st_size), '\0');
      if (::pread(number, text.data(), text.size(), 0) < 0 || text != kText) return "one holds " + text;
      struct flock range {};
      range.l_type = F_WRLCK;
      if (::fcntl(number, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK) return "one is locked";
    }
    return "";
  }

 private:
  static constexpr std::string_view kText = "mine";
  const std::vector<int> numbers_;
};

}  // namespace trainwarden
