// Files and folders that are there whole or not at all, and are on disk when a function returns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace bert {

// Writes a file beside its place; commit() flushes it to disk and gives it its name. Without commit() nothing is left.
// One thread.
class AtomicFile {
 public:
  // Throws std::runtime_error, which names the file, when it cannot be made, as do append() and commit().
  explicit AtomicFile(std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(const void* bytes, std::size_t count);
  void append(std::string_view text) { append(text.data(), text.size()); }
  void commit();

 private:
  std::filesystem::path file_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
};

// Writes an AtomicFile. Throws as it does.
void write_text(const std::filesystem::path& file, std::string_view text);

// The folder `partial`, whose files are on disk, gets the name `target`. A folder that had this name is removed; at
// each moment one of the two has it. Throws std::runtime_error, and std::filesystem::filesystem_error where the old one
// cannot be removed.
void put_folder_in_place(const std::filesystem::path& partial, const std::filesystem::path& target);

}  // namespace bert
