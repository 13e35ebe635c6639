// A copy of a tree of files, for people and for programs.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "store/copy/copy_place.h"
#include "store/copy/copy_tree.h"

namespace trainwarden::cli {

// How far a copy is, with the speed of its last ten seconds: "1.2 GiB of 3.0 GiB, 85.0 MiB/s, 21 s left; 12 of 40
// files".
class CopySpeed {
 public:
  std::string text(const copy::CopyProgress& progress);
  std::string text_at(const copy::CopyProgress& progress, std::int64_t steady_ns);

 private:
  std::deque<std::pair<std::int64_t, std::uint64_t>> moved_;  // when how much had been
};

void print_copy(const copy::CopyEnds& ends, const copy::CopyOptions& options, const copy::CopySummary& summary);
void print_copy_as_json(const copy::CopyEnds& ends, const copy::CopyOptions& options, const copy::CopySummary& summary);
int exit_code_of_copy(const copy::CopySummary& summary);

}  // namespace trainwarden::cli
