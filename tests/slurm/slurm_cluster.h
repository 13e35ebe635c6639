// SlurmCluster: tests/servers/slurm_cluster.py as a process; and jobs in it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/folder_testing.h"
#include "core/process/child.h"
#include "trainwarden/status.h"
#include "work/slurm/slurm_commands.h"
#include "work/slurm/slurm_listing.h"
#include "work/slurm/slurm_standing.h"

namespace trainwarden::slurm {

// Until it holds, for a minute and a half at most.
bool comes_true(const std::function<bool()>& condition, std::chrono::seconds within = std::chrono::seconds(90));

class SlurmCluster {
 public:
  // Why there can be none on this machine; nothing when there can.
  static std::optional<std::string> missing();

  // Starts it, and sets SLURM_CONF for this process. `options` are those of the program. Ends the test program when it
  // does not start.
  explicit SlurmCluster(const std::vector<std::string>& options);
  ~SlurmCluster();

  void stop(const std::string& daemon) { tell("stop " + daemon); }
  void kill(const std::string& daemon) { tell("kill " + daemon); }
  // A node and all that runs on it end at once.
  void lose(const std::string& node) { tell("lose " + node); }
  void start(const std::string& daemon) { tell("start " + daemon); }

  const SlurmCommands& commands() const { return *commands_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  // Its number.
  std::int64_t submit(std::vector<std::string> options, const std::string& script);
  // As squeue lists it now.
  std::optional<SlurmJob> find(const SlurmKey& key) const;
  std::optional<SlurmJob> find(std::int64_t id) const { return find(SlurmKey{id, std::nullopt}); }
  Standing standing(std::int64_t id) const;
  // Once it stands so, or nothing when it does not in time.
  std::optional<SlurmJob> await(std::int64_t id, Standing standing) const;
  std::optional<SlurmJob> await_end(std::int64_t id) const;

 private:
  void tell(const std::string& line);
  std::string answer();

  TestFolder folder_;
  FileDescriptor talk_;
  std::optional<process::Child> daemons_;
  std::optional<SlurmCommands> commands_;
  int scripts_ = 0;
};

}  // namespace trainwarden::slurm
