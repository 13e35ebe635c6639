// OutputFollower: what a program prints into a file, printed again as it comes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/log_metrics/record_splitter.h"

namespace trainwarden::cli {

// Each line as JSON: `rank` (null: the log does not say whose it is), `text`, and `cut` where the line is longer.
struct JsonLines {
  std::optional<std::int64_t> rank;  // whose log it is
  std::int64_t ranks = 1;            // of a log of several the lines begin with theirs: "[3] "
};

// One thread at a time.
class OutputFollower {
 public:
  // Bytes that were printed already are left out. `json`: nothing: as they are.
  explicit OutputFollower(const std::filesystem::path& file, std::uint64_t printed_bytes = 0)
      : folder_(file.parent_path()), file_(file.filename().string()), printed_(printed_bytes) {}
  // A file in a folder, "ranks/0.log"; no link on the way is followed.
  OutputFollower(storage::Location folder, std::string file, std::optional<JsonLines> json)
      : folder_(std::move(folder)), file_(std::move(file)), json_(json) {}

  static std::uint64_t bytes_of(const std::filesystem::path& file);  // 0 when it is not there

  // What is new since the last call, to standard output: the bytes as they are, or, to a terminal, in lines without
  // what would drive it. Nothing when the file is not there yet. kResourceExhausted when it cannot be written.
  Status print_new();
  // The program has ended: a last line without an end is printed too.
  Status finish();

 private:
  void print(std::string_view bytes);
  void print_line(const log_metrics::LogRecord& record) const;

  storage::Location folder_;
  std::string file_;
  std::uint64_t printed_ = 0;
  std::optional<JsonLines> json_;
  log_metrics::RecordSplitter lines_;
};

}  // namespace trainwarden::cli
