#include "measure/machine/memory_probe.h"

#include <unistd.h>

#include <cstdint>
#include <optional>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr double kKiB = 1024;

struct Meminfo {
  std::optional<std::uint64_t> total, available, cached, swap_total, swap_free;
};

Meminfo parse_meminfo(std::string_view text) {
  Meminfo found;
  while (auto line = next_line(text)) {
    const std::string_view word = next_word(*line);
    if (word == "MemTotal:") found.total = next_number(*line);
    if (word == "MemAvailable:") found.available = next_number(*line);
    if (word == "Cached:") found.cached = next_number(*line);
    if (word == "SwapTotal:") found.swap_total = next_number(*line);
    if (word == "SwapFree:") found.swap_free = next_number(*line);
  }
  return found;
}

std::optional<std::uint64_t> difference(std::optional<std::uint64_t> whole, std::optional<std::uint64_t> part) {
  return whole && part && *part <= *whole ? std::optional(*whole - *part) : std::nullopt;
}

}  // namespace

void MemoryProbe::read(Reading& reading) {
  if (const auto text = meminfo_.read(buffer_)) take(*text, reading);
}

void MemoryProbe::take(std::string_view text, Reading& reading) {
  const Meminfo found = parse_meminfo(text);
  host_.set_if(reading, "memory.total", found.total, kKiB);
  host_.set_if(reading, "memory.available", found.available, kKiB);
  host_.set_if(reading, "memory.used", difference(found.total, found.available), kKiB);
  host_.set_if(reading, "memory.cached", found.cached, kKiB);
  host_.set_if(reading, "swap.total", found.swap_total, kKiB);
  host_.set_if(reading, "swap.used", difference(found.swap_total, found.swap_free), kKiB);
}

void PagingProbe::read(Reading& reading) {
  if (const auto text = vmstat_.read(buffer_)) take(*text, reading);
}

void PagingProbe::take(std::string_view text, Reading& reading) {
  static const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  while (auto line = next_line(text)) {
    const std::string_view word = next_word(*line);
    if (word == "pgmajfault") host_.set_if(reading, "paging.major_faults", next_number(*line));
    if (word == "pswpin") host_.set_if(reading, "paging.swapped_in", next_number(*line), page_bytes);
    if (word == "pswpout") host_.set_if(reading, "paging.swapped_out", next_number(*line), page_bytes);
    if (word == "oom_kill") host_.set_if(reading, "paging.oom_kills", next_number(*line));
  }
}

}  // namespace trainwarden::machine
