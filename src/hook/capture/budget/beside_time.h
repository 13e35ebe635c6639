// BesideTime: the CPU time that goes into a run beside its training: of the writer thread, and of the process that
// watches.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>

namespace trainwarden::capture {

class BesideTime {
 public:
  // `writer_ns`: CPU time of the writer thread so far. `watcher`: a process id as text; nullptr, or one that means no
  // process: nobody watches. `workers` share its time.
  BesideTime(std::function<std::int64_t()> writer_ns, const char* watcher, int workers);

  // Since this was made. Of a training that keeps several CPUs busy a CPU is only a part: the time is divided by how
  // many it has kept busy so far, if that is more than one. Costs about a microsecond.
  std::int64_t spent_ns(std::int64_t wall_ns) const;

 private:
  const std::function<std::int64_t()> writer_ns_;
  std::optional<clockid_t> watcher_;
  const int workers_;
  std::int64_t watcher_began_ns_ = 0;
  std::int64_t process_began_ns_ = 0;
};

}  // namespace trainwarden::capture
