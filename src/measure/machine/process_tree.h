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

  explicit ProcessTree(const std::filesystem::path& root) : proc_(root / "proc") {}
  // The roots and their descendants, parents first; kMaxProcesses at most, the nearest to the roots. From the lists of
  // children that the kernel keeps, or, where it keeps none, from all processes' parents.
  std::vector<pid_t> walk(const std::vector<pid_t>& roots);
  // How many files the last walk opened: what it cost.
  std::size_t opened_files() const { return opened_files_; }

 private:
  bool has_lists(pid_t process);
  void add_children(pid_t process, std::vector<pid_t>& found);
  void add_by_parents(std::vector<pid_t>& found);

  std::filesystem::path proc_;
  FileBuffer buffer_;
  std::size_t opened_files_ = 0;
};

}  // namespace trainwarden::machine
