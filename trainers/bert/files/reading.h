// Files as bytes: read once, or mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace bert {

enum class Links { kFollow, kRefuse };

// A file that is read once, from its beginning. One thread.
class InputFile {
 public:
  // Throws std::runtime_error, as all here, that names the file: when it cannot be opened, or is not a regular file. A
  // pipe could make its reader wait for ever.
  explicit InputFile(std::filesystem::path file, Links links = Links::kFollow);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint64_t size_bytes() const { return size_bytes_; }  // when it was opened
  void read(void* to, std::uint64_t count);                 // throws where the file ends before

  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::uint64_t size_bytes_ = 0;
};

// The text of a file. Throws as InputFile does, and when the file has more than `max_bytes`.
std::string read_text(const std::filesystem::path& file, std::uint64_t max_bytes, Links links = Links::kFollow);

// A private, writable mapping of a whole file: what is written into it stays in memory. An empty file has no bytes.
class MappedFile {
 public:
  // Throws as InputFile does, and when the file cannot be mapped.
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

}  // namespace bert
