// OutputFollower: what a program prints into a file, printed again as it comes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "work/log_metrics/record_splitter.h"

namespace trainwarden::cli {

// One thread at a time.
class OutputFollower {
 public:
  // Bytes that were printed already are left out.
  explicit OutputFollower(std::filesystem::path file, std::uint64_t printed_bytes = 0)
      : file_(std::move(file)), printed_(printed_bytes) {}

  static std::uint64_t bytes_of(const std::filesystem::path& file);  // 0 when it is not there

  // What is new since the last call, to standard output: the bytes as they are, or, to a terminal, in lines without
  // what would drive it. Nothing when the file is not there yet.
  void print_new();
  // The program has ended: a last line without an end is printed too.
  void finish();

 private:
  void print(std::string_view bytes);

  std::filesystem::path file_;
  std::uint64_t printed_;
  log_metrics::RecordSplitter lines_;
};

}  // namespace trainwarden::cli
