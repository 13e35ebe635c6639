// RunIndex: the rows of all runs of a folder, read by a thread of its own. A run whose files did not change is not read
// again; one that is being written stays open.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/run_mark.h"
#include "ui/views/run_row.h"

namespace trainwarden::views {

struct IndexedRun {
  std::string id;
  std::string name;
  std::shared_ptr<const RunRow> row;  // null while it has not been read
  LossCourse course;
};

struct IndexedRuns {
  std::vector<IndexedRun> runs;  // by name
  std::size_t reading = 0;       // how many have not been read yet; at least 1 while changes are looked for
};

// May be used from any thread.
class RunIndex {
 public:
  // Of the runs in `place`, or of the run that it is.
  RunIndex(storage::Location place, bool is_run);
  ~RunIndex();

  // Those that are there now, as they are now: waits until all have been looked at once more, but not longer than
  // `patience`. kNotFound when the folder is gone.
  Result<IndexedRuns> runs(std::chrono::milliseconds patience);

 private:
  struct Entry {
    std::uint64_t files = 0;  // what they looked like when the row was read (sizes, times); 0: never
    bool files_changed = false;
    std::shared_ptr<const RunRow> row;
    LossCourse course;
    RunMark mark = 0;
    std::unique_ptr<Trial> trial;  // of a run that is being written. The thread's own
  };

  void work();
  std::vector<std::string> changed_runs();
  void read(const std::string& name);
  Result<std::vector<std::string>> names() const;
  storage::Location location_of(const std::string& name) const { return is_run_ ? place_ : place_.child(name); }

  const storage::Location place_;
  const bool is_run_;
  std::mutex mutex_;
  std::condition_variable wake_;    // the thread: look now, or end
  std::condition_variable looked_;  // who waits for rows
  std::map<std::string, Entry> entries_;
  bool look_ = true;
  std::uint64_t looks_begun_ = 0;
  std::uint64_t looks_done_ = 0;
  std::uint64_t look_owed_ = 0;  // that somebody asked for and did not wait for; 0: none
  bool ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::views
