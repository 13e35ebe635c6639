// ProcessTree: which processes the training has: its roots and all that is below them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/machine/kernel_file.h"

namespace trainwarden::machine {

// What proc/PID/stat says of a process.
struct StatLine {
  std::string name;  // any bytes, 64 at most
  pid_t parent = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  // since the machine started: another process under the same number has another
  bool ended = false;             // and waits for its parent to notice
};
std::optional<StatLine> parse_process_stat(std::string_view text);

// One thread at a time.
class ProcessTree {
 public:
  static constexpr std::size_t kMaxProcesses = 4096;
  static constexpr int kWholeEvery = 20;  // walks

  explicit ProcessTree(const std::filesystem::path& root) : proc_(root / "proc"), loadavg_(proc_ / "loadavg") {}

  // The roots and their descendants, parents first; kMaxProcesses at most, the nearest to the roots. From the lists of
  // children that the kernel keeps, or, where it keeps none, from all processes' parents. There, those that a walk
  // found to be others' are not looked at again until the next whole walk: each kWholeEvery-th, and with other roots.
  std::vector<pid_t> walk(const std::vector<pid_t>& roots);
  // No process of this machine was started since the last walk began, so that one would find nothing. False where the
  // kernel does not say, and where what it says was the same by chance: who asks walks now and then all the same.
  bool nothing_started();
  // What the last walk cost, in files opened: for the kernel the names of eight processes cost about as much as one.
  std::size_t cost() const { return opened_files_ + listed_ / 8; }

 private:
  bool has_lists(pid_t process);
  void add_children(pid_t process, std::vector<pid_t>& found);
  void add_by_parents(std::vector<pid_t>& found);
  std::optional<std::uint64_t> last_started();

  std::filesystem::path proc_;
  KernelFile loadavg_;
  FileBuffer buffer_;
  std::size_t opened_files_ = 0;
  std::size_t listed_ = 0;
  std::vector<pid_t> roots_;
  std::vector<pid_t> strangers_;  // rising
  int walks_to_whole_ = 0;
  std::optional<std::uint64_t> last_started_;
};

}  // namespace trainwarden::machine
