// KernelFile: a small file that the kernel writes anew at each reading; and the names in a folder of such files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_descriptor.h"

namespace trainwarden::machine {

// What files are read into, one after the other. It grows to the largest of them, kMaxBytes at most.
class FileBuffer {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

  FileBuffer() : text_(kFirstBytes, '\0') {}
  // The kernel writes a text into pages of its own, and gives what fits into one at a time: a piece ends where the next
  // record does not fit. So a piece that leaves half of a page free is the last, where records are shorter than that.
  enum class End : std::uint8_t {
    kIsAsked,     // for any text: what lies behind a piece is asked for
    kShortPiece,  // for texts of short records; a call of the system less
  };

  // The whole text from the descriptor's beginning; nothing when it cannot be read or is longer than kMaxBytes.
  std::optional<std::string_view> fill(int descriptor, End end = End::kIsAsked);

 private:
  static constexpr std::size_t kFirstBytes = 16384;
  static constexpr std::size_t kShortBytes = 2048;
  std::string text_;
};

// One thread at a time.
class KernelFile {
 public:
  KernelFile() = default;
  explicit KernelFile(std::filesystem::path path) : path_(std::move(path)) {}

  // The whole text, until the next reading into `buffer`; nothing when there is none. Of records shorter than half a
  // page (FileBuffer::End). The file stays open, and is opened anew when it cannot be read any more.
  std::optional<std::string_view> read(FileBuffer& buffer);
  // The same, of any records, and the file does not stay open.
  std::optional<std::string_view> read_once(FileBuffer& buffer);
  bool is_there() const;
  bool is_empty() const { return path_.empty(); }  // stands for no file
  void close() { open_ = FileDescriptor(); }

 private:
  bool open();

  std::filesystem::path path_;
  FileDescriptor open_;
};

// As the folder has them, without a copy of any; until `take` says false. None when there is no such folder.
void for_each_name(const std::filesystem::path& folder, const std::function<bool(std::string_view)>& take);
// In order of their bytes, `limit` at most; empty when there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder, std::size_t limit);

}  // namespace trainwarden::machine
