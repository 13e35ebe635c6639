#include "hook/capture/staging/spare_memory.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace trainwarden::capture {
namespace {

using Bytes = std::optional<std::uint64_t>;

// The number that stands alone in a file; none for "max", and where there is no such file.
Bytes number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? Bytes(number) : std::nullopt;
}

// The number behind this word: "MemAvailable:   123 kB", "inactive_file 4096".
Bytes number_behind(const std::filesystem::path& file, std::string_view word) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.size() <= word.size() || !line.starts_with(word)) continue;
    if (const auto digit = line.find_first_of("0123456789", word.size()); digit != std::string::npos) {
      return std::stoull(line.substr(digit));
    }
  }
  return std::nullopt;
}

// What a limit leaves; pages of files that nobody uses can be had back.
Bytes left_of(Bytes limit, Bytes used, Bytes reclaimable) {
  if (!limit || !used) return std::nullopt;
  const std::uint64_t taken = *used - std::min(*used, reclaimable.value_or(0));
  return *limit - std::min(*limit, taken);
}

Bytes smaller(Bytes a, Bytes b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

}  // namespace

std::optional<std::uint64_t> spare_memory_bytes(const std::filesystem::path& root) {
  constexpr std::uint64_t kKiB = 1024;
  Bytes spare = number_behind(root / "proc/meminfo", "MemAvailable:");
  if (spare) *spare *= kKiB;
  const auto v2 = root / "sys/fs/cgroup";  // as a container sees its own
  const auto v1 = v2 / "memory";
  spare = smaller(spare, left_of(number_in(v2 / "memory.max"), number_in(v2 / "memory.current"),
                                 number_behind(v2 / "memory.stat", "inactive_file ")));
  return smaller(spare, left_of(number_in(v1 / "memory.limit_in_bytes"), number_in(v1 / "memory.usage_in_bytes"),
                                number_behind(v1 / "memory.stat", "total_inactive_file ")));
}

std::optional<std::uint64_t> spare_memory_bytes() {
  return spare_memory_bytes("/");
}

}  // namespace trainwarden::capture
