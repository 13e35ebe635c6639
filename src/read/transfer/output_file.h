// OutputFile: a file that has its name when it is whole, and not before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::transfer {

// What was written, over all files.
struct OutputTally {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

class OutputFile {
 public:
  // Creates `<path>.tmp` and the folders above it; what lies there is replaced. Without commit() it is removed again.
  static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path, OutputTally& tally);
  // Has its name at once: for files that others read while they grow. kAlreadyExists when it is there.
  static Result<std::unique_ptr<OutputFile>> create_growing(const std::filesystem::path& path, OutputTally& tally);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status append(ByteSpan bytes);
  Status append(std::string_view text) { return append(as_bytes(text)); }
  std::uint64_t bytes() const { return bytes_; }
  // Closes it and gives it its name; what had the name before is replaced.
  Status commit();

 private:
  OutputFile(int descriptor, std::filesystem::path path, bool growing, OutputTally& tally);
  std::filesystem::path written_path() const;

  int descriptor_;
  const std::filesystem::path path_;
  const bool growing_;
  OutputTally& tally_;
  std::uint64_t bytes_ = 0;
};

// The whole file at once.
Status write_file(const std::filesystem::path& path, std::string_view content, OutputTally& tally);

}  // namespace trainwarden::transfer
