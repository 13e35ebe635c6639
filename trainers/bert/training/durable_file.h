// Files that are on disk when a function returns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace bert {

// A file that is written from its beginning. All functions throw std::runtime_error that names the file.
class DurableFile {
 public:
  explicit DurableFile(const std::filesystem::path& path);  // must not be there yet
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t count);
  void close();  // flushed to disk

 private:
  std::filesystem::path path_;
  int descriptor_;
};

// Names of files in it.
void flush_folder(const std::filesystem::path& folder);

// The names change their places: `target` is there at each moment. Only what has no `target` yet is renamed.
void put_in_place(const std::filesystem::path& partial, const std::filesystem::path& target);

}  // namespace bert
