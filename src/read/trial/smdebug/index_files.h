// IndexFiles: the index files of a folder of smdebug's, each found and taken in once.
//
// An index file appears by being renamed, whole, and is the commit of one step of one worker.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/foreign/smdebug_index.h"
#include "data/foreign/smdebug_layout.h"
#include "read/trial/smdebug/index_reader.h"
#include "store/storage/storage.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// One thread at a time.
class IndexFiles {
 public:
  explicit IndexFiles(const storage::Storage& storage) : storage_(storage), reader_(storage) {}

  // Takes in a file; an error means that it cannot be used.
  using Take = std::function<Status(const IndexFile& file, std::uint64_t bytes, const foreign::SmdebugIndex& index)>;

  // Gives `take` the files that came since the last call, by rising step and worker. Folders with steps before
  // `first_step` only are not looked into. Files that could not be used are tried again at each call, the smallest
  // first, as far as they are not too much to read each time. An error is the storage's, when it lists folders; the
  // other folders were read.
  Status refresh(std::int64_t first_step, const Take& take);

  // The files that cannot be used.
  std::vector<RunLoss> losses() const;

 private:
  // The steps of one worker that were taken, by the number of their folder.
  using TakenSteps = std::map<std::int64_t, std::bitset<foreign::kSmdebugStepsPerFolder>>;
  struct Unusable {
    IndexFile file;
    std::string cause;
    std::uint64_t bytes = 0;  // 0 also where it was not read
  };

  void retry_unusable(const Take& take);
  Status read_folder(const std::string& folder, const Take& take);
  void read(std::span<const IndexFile> files, const Take& take);
  void settle(const IndexFile& file, std::uint64_t bytes, const Status& status);
  bool is_taken(const std::string& worker, std::int64_t step) const;

  const storage::Storage& storage_;
  IndexReader reader_;
  std::map<std::string, TakenSteps> taken_;   // by worker
  std::map<std::string, Unusable> unusable_;  // by path
};

}  // namespace trainwarden::trial
