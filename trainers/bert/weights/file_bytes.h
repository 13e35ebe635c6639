// Files as bytes: mapped to read, and written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace bert {

// A private, writable mapping of a whole file: what is written into it stays in memory. An empty file has no bytes.
class MappedFile {
 public:
  // Throws std::runtime_error when the file cannot be opened, is not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

// The text of a small file. Throws std::runtime_error when it cannot be read or has more than `max_bytes`.
std::string read_text(const std::filesystem::path& file, std::size_t max_bytes);

// Writes a file beside its place; commit() synchronises it and gives it its name. Without commit() nothing is left.
// One thread.
class AtomicFile {
 public:
  // Throws std::runtime_error when the file cannot be made, as do append() and commit().
  explicit AtomicFile(std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(const void* bytes, std::size_t count);
  void append(std::string_view text) { append(text.data(), text.size()); }
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path file_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace bert
