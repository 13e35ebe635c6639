#include "ui/cli/reports/process_use.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/text.h"

namespace trainwarden::cli {

std::optional<ProcessStat> parse_process_stat(const std::string& text) {
  // The name stands in brackets and may hold anything, brackets and blanks too.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = split_list(text.substr(name_end + 1), ' ');  // from the third on, "state"
  constexpr std::size_t kUserTime = 14 - 3, kSystemTime = 15 - 3, kThreads = 20 - 3, kResident = 24 - 3;
  if (fields.size() <= kResident) return std::nullopt;
  const auto user = parse_int(fields[kUserTime]), system = parse_int(fields[kSystemTime]);
  const auto threads = parse_int(fields[kThreads]), resident = parse_int(fields[kResident]);
  if (!user || !system || !threads || !resident) return std::nullopt;
  return ProcessStat{static_cast<std::uint64_t>(*user + *system), static_cast<int>(*threads),
                     static_cast<std::uint64_t>(*resident)};
}

std::optional<ProcessUse> ProcessMeter::look(std::int64_t pid, std::int64_t now_steady_ns) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto stat = parse_process_stat(text);
  if (!stat) return std::nullopt;
  ProcessUse use{.pid = pid, .threads = stat->threads};
  use.memory_bytes = stat->resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (pid == pid_ && now_steady_ns > looked_ns_) {
    const double seconds = static_cast<double>(stat->cpu_ticks - ticks_) / static_cast<double>(sysconf(_SC_CLK_TCK));
    use.cpu_share = seconds * 1e9 / static_cast<double>(now_steady_ns - looked_ns_);
  }
  pid_ = pid;
  ticks_ = stat->cpu_ticks;
  looked_ns_ = now_steady_ns;
  return use;
}

}  // namespace trainwarden::cli
