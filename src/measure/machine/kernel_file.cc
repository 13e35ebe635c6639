#include "measure/machine/kernel_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace trainwarden::machine {

std::optional<std::string_view> FileBuffer::fill(int descriptor, End end) {
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = ::pread(descriptor, text_.data() + size, text_.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return std::string_view(text_.data(), size);
    size += static_cast<std::size_t>(got);
    if (end == End::kShortPiece && static_cast<std::size_t>(got) < kShortBytes && size < text_.size())
      return std::string_view(text_.data(), size);
    if (size < text_.size()) continue;
    if (size >= kMaxBytes) return std::nullopt;
    text_.resize(std::min(text_.size() * 2, kMaxBytes));
  }
}

bool KernelFile::open() {
  if (path_.empty()) return false;
  // Without waiting: what passes for a kernel's file may be a pipe.
  open_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return open_.is_open();
}

std::optional<std::string_view> KernelFile::read(FileBuffer& buffer) {
  if (open_.is_open()) {
    if (const auto text = buffer.fill(open_.get(), FileBuffer::End::kShortPiece)) return text;
  }
  if (!open()) return std::nullopt;
  const auto text = buffer.fill(open_.get(), FileBuffer::End::kShortPiece);
  if (!text) close();
  return text;
}

std::optional<std::string_view> KernelFile::read_once(FileBuffer& buffer) {
  if (!open_.is_open() && !open()) return std::nullopt;
  const auto text = buffer.fill(open_.get());
  close();
  return text;
}

bool KernelFile::is_there() const {
  return ::access(path_.c_str(), R_OK) == 0;
}

void for_each_name(const std::filesystem::path& folder, const std::function<bool(std::string_view)>& take) {
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return;
  bool more = true;
  while (more) {
    const dirent* const entry = ::readdir(open);
    more = entry != nullptr && take(entry->d_name);
  }
  ::closedir(open);
}

std::vector<std::string> names_in(const std::filesystem::path& folder, std::size_t limit) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end && names.size() < limit;) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace trainwarden::machine
