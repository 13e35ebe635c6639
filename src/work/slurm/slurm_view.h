// SlurmView: what Slurm says of all jobs, asked for together, and not more often than needed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "trainwarden/status.h"
#include "work/slurm/slurm_commands.h"
#include "work/slurm/slurm_listing.h"

namespace trainwarden::slurm {

inline constexpr std::chrono::seconds kLookInterval{5};

// One thread at a time. Slurm is not asked before somebody wants to know.
class SlurmView {
 public:
  // With Slurm's programs as they are found in PATH when they are needed.
  explicit SlurmView(std::chrono::milliseconds interval = kLookInterval) : interval_(interval) {}
  explicit SlurmView(SlurmCommands commands, std::chrono::milliseconds interval = kLookInterval)
      : commands_(std::move(commands)), interval_(interval) {}

  // The list, not older than the interval; nullptr when nobody knows, which status() explains. It stays until the next
  // call of this or of look_again().
  const std::vector<SlurmJob>* jobs();
  // The same as of now, for who misses something in it.
  const std::vector<SlurmJob>* look_again();
  const Status& status() const { return status_; }

  // Of a job that the list does not have any more; nothing when nobody remembers it either.
  std::optional<SlurmJob> remembered(std::int64_t id) const;

  // kNotFound when Slurm's programs are not in PATH.
  Result<SlurmCommands> commands();

 private:
  std::optional<SlurmCommands> commands_;
  std::chrono::milliseconds interval_;
  std::optional<std::chrono::steady_clock::time_point> looked_;
  std::vector<SlurmJob> jobs_;
  Status status_;
};

}  // namespace trainwarden::slurm
