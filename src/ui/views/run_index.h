// RunIndex: the rows of all runs of a shelf, read by a thread of its own. A run whose files did not change is not read
// again; one that is being written stays open, and so does the newest, of which the losses are read ahead.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "ui/views/run_row.h"
#include "ui/views/shelf.h"

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
  // `shelf` must outlive it.
  explicit RunIndex(Shelf& shelf);
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
    std::string identity;  // of the run that the row is of
  };

  void work();
  std::vector<std::string> changed_runs();
  void read(const std::string& name);
  bool is_known(const std::string& name, const OpenRun& run);
  void keep_or_close(const RunRow& row);
  void forget(const std::string& name);
  void read_newest_ahead();
  Result<std::vector<std::string>> names() const;
  storage::Location location_of(const std::string& name) const {
    return shelf_.is_run() ? shelf_.place() : shelf_.place().child(name);
  }

  Shelf& shelf_;
  // The thread's own: names of runs.
  std::set<std::string> open_;  // that are being written
  std::string newest_;
  std::int64_t newest_unix_ns_ = 0;
  std::string ahead_;  // the identity of the run that was read ahead

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
