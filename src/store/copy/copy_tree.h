// CopyTree: copies what lies at one end to another, whole files only, several at once; what is there is not copied
// again, and what was begun is gone on with.
//
// - What is the same there: a file of the same size that is not older. A bucket's times are of whole seconds and of its
//   own clock, so what is near is told apart by the tag of its content. `checks` compares the content of each.
// - Each chunk of a file is in memory while it travels, so a copy takes connections x 16 MiB and 200 bytes a file,
// however
//   large a file is, up to 160 GiB; beyond that a chunk is a ten-thousandth of it, since buckets take no more parts.
// - A network that is away is waited for; everything else that is wrong with a file ends that file alone, but for a
// disk
//   that is full.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "store/copy/copy_end.h"

namespace trainwarden::copy {

struct CopyOptions {
  bool dry_run = false;   // says what it would do
  bool removes = false;   // what is there and not in the source
  bool checks = false;    // the content of all files, also where only reading both tells
  bool abandons = false;  // copies nothing: what was begun of this copy and not ended is removed
  unsigned connections = 8;
  std::chrono::milliseconds patience{120'000};  // with a network that is away
  std::chrono::milliseconds quiet{0};           // files that were written within it are left for another time
};

inline constexpr unsigned kMaxConnections = 64;

struct CopyProblem {
  std::string path;
  Status status;
};

struct CopySummary {
  std::uint64_t files = 0, bytes = 0;                // of the source
  std::uint64_t files_copied = 0, bytes_copied = 0;  // now; of a dry run: to be copied
  std::uint64_t bytes_resumed = 0;                   // of files that were begun before and are whole now
  std::uint64_t files_same = 0, bytes_same = 0;      // were there
  std::uint64_t files_removed = 0;
  std::uint64_t files_left = 0;     // for another time
  std::uint64_t files_checked = 0;  // of those that were copied: their content was compared, by tag or by reading
  std::uint64_t unfinished_ended = 0;
  std::vector<std::string> copied, removed;  // paths; of a dry run, and the first thousand
  std::vector<std::string> links;
  std::vector<LeftOut> left_out;
  std::vector<CopyProblem> problems;
  Status ended_by;  // why it did not go through all files: left, disk full, network away
  bool is_complete() const { return ended_by.ok() && problems.empty() && left_out.empty(); }
};

// What is wrong with a copy that is to be complete, as one error: the first, and how many more there are.
Status problem_of(const CopySummary& summary);

struct CopyProgress {
  bool is_listing = true;
  std::uint64_t files = 0, files_done = 0, bytes = 0, bytes_done = 0;
  std::uint64_t bytes_moved = 0;  // of those that are done: not there before
  std::string trouble;            // what is waited for
};

class CopyTree {
 public:
  CopyTree(std::shared_ptr<CopyEnd> from, std::shared_ptr<CopyEnd> to, const CopyOptions& options);
  ~CopyTree();
  // Once. An error: nothing was copied, since an end could not be read.
  Result<CopySummary> run(const std::stop_token& stop);
  CopyProgress progress() const;  // from any thread

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trainwarden::copy
