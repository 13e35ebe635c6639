// ProcessUse: what a process of this machine takes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trainwarden::cli {

struct ProcessUse {
  std::int64_t pid = 0;
  double cpu_share = -1;           // of one CPU since the look before, 1.6 is 160 %; -1: this is the first look
  std::uint64_t memory_bytes = 0;  // resident
  int threads = 0;
};

// The fields of /proc/PID/stat that count. None for a text of another form. Source: proc(5).
struct ProcessStat {
  std::uint64_t cpu_ticks = 0;  // user and system
  int threads = 0;
  std::uint64_t resident_pages = 0;
};
std::optional<ProcessStat> parse_process_stat(const std::string& text);

// Looks at one process again and again.
class ProcessMeter {
 public:
  // None when there is no such process or it may not be looked at.
  std::optional<ProcessUse> look(std::int64_t pid, std::int64_t now_steady_ns);

 private:
  std::int64_t pid_ = 0;
  std::uint64_t ticks_ = 0;
  std::int64_t looked_ns_ = 0;
};

}  // namespace trainwarden::cli
