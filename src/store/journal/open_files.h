// OpenFiles: the files that all readers of a run keep open together. A run may have more writers than a process may
// have open files.
#pragma once

#include <cstddef>
#include <list>

namespace trainwarden::journal {

class SegmentFile;

// One thread at a time.
class OpenFiles {
 public:
  OpenFiles();  // half of what this process may have, so that others find room
  explicit OpenFiles(std::size_t most) : most_(most) {}
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  using Turn = std::list<SegmentFile*>::iterator;
  // It has its file open now. Where those are too many, the one that was used least lately closes its own.
  Turn add(SegmentFile& file);
  void use(Turn turn) { turns_.splice(turns_.begin(), turns_, turn); }
  void remove(Turn turn) { turns_.erase(turn); }
  std::size_t size() const { return turns_.size(); }

 private:
  const std::size_t most_;
  std::list<SegmentFile*> turns_;  // the one that was used last is the first
};

}  // namespace trainwarden::journal
