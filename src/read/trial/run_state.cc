#include "read/trial/run_state.h"

#include <algorithm>

namespace trainwarden::trial {
namespace {

bool left_on_purpose(const WorkerLife& worker) {
  return worker.run_end.has_value();
}
bool was_stopped(const WorkerLife& worker) {
  return worker.run_end && worker.run_end->stopped;
}
bool is_writing(const WorkerLife& worker) {
  return worker.writing;
}
bool has_written(const WorkerLife& worker) {
  return worker.has_written;
}

}  // namespace

bool WorkerLife::ended(std::int64_t run_age_ns) const {
  return run_end.has_value() || (!writing && (has_written || run_age_ns >= kStartUpNs));
}

RunState run_state(std::span<const WorkerLife> workers, int world_size, std::int64_t age_ns) {
  const bool all_started = static_cast<std::int64_t>(workers.size()) >= world_size;
  const bool all_left = !workers.empty() && std::all_of(workers.begin(), workers.end(), left_on_purpose);
  const bool any_writing = std::any_of(workers.begin(), workers.end(), is_writing);
  if (all_left && (all_started || !any_writing)) {
    return std::any_of(workers.begin(), workers.end(), was_stopped) ? RunState::kStopped : RunState::kCompleted;
  }
  const bool starting = age_ns < kStartUpNs && std::none_of(workers.begin(), workers.end(), has_written);
  return any_writing || starting ? RunState::kRunning : RunState::kDied;
}

}  // namespace trainwarden::trial
