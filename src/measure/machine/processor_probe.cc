#include "measure/machine/processor_probe.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

#include <unistd.h>

#include "core/base/text.h"
#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr std::size_t kMaxProcessors = 2048;

// In ticks of the kernel, as in proc(5): user, nice, system, idle, iowait, irq, softirq, steal. Guests, which come
// behind them, are in user and nice already.
using ProcessorTimes = std::array<std::uint64_t, 8>;
enum : std::size_t { kUser, kNice, kSystem, kIdle, kIowait, kIrq, kSoftirq, kSteal };

std::optional<ProcessorTimes> parse_times(std::string_view line) {
  ProcessorTimes times{};
  for (std::uint64_t& time : times) {
    const auto number = next_number(line);
    if (!number) return std::nullopt;
    time = *number;
  }
  return times;
}

struct ProcessorRows {
  Known busy, user, system, iowait, steal;
};

void set_times(const ProcessorTimes& times, const ProcessorRows& rows, MetricSet& set, Reading& reading) {
  static const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto seconds = [&](std::initializer_list<std::size_t> kinds) {
    double ticks = 0;
    for (const std::size_t kind : kinds) ticks += static_cast<double>(times[kind]);
    return ticks / ticks_per_second;
  };
  set.set(reading, rows.busy, seconds({kUser, kNice, kSystem, kIrq, kSoftirq, kSteal}));
  set.set(reading, rows.user, seconds({kUser, kNice}));
  set.set(reading, rows.system, seconds({kSystem, kIrq, kSoftirq}));
  set.set(reading, rows.iowait, seconds({kIowait}));
  set.set(reading, rows.steal, seconds({kSteal}));
}

}  // namespace

ProcessorProbe::ProcessorProbe(const HostPlan& plan)
    : stat_(plan.root / "proc/stat"),
      loadavg_(plan.root / "proc/loadavg"),
      host_(plan.host),
      processors_(plan.host, kMaxProcessors) {}

void ProcessorProbe::read(Reading& reading) {
  if (const auto text = stat_.read(buffer_)) take_stat(*text, reading);
  if (looks_++ % kRarely != 0) return;  // the kernel computes it anew each five seconds
  if (const auto text = loadavg_.read(buffer_)) take_loadavg(*text, reading);
}

void ProcessorProbe::take_stat(std::string_view text, Reading& reading) {
  int online = 0;
  while (auto line = next_line(text)) {
    std::string_view word = next_word(*line);
    if (word == "cpu") {
      const auto times = parse_times(*line);
      if (times) set_times(*times, {"cpu.busy", "cpu.user", "cpu.system", "cpu.iowait", "cpu.steal"}, host_, reading);
    } else if (word.starts_with("cpu") && to_number(word.substr(3))) {
      ++online;
      const auto times = parse_times(*line);
      MetricSet* const set = times ? processors_.find(word.substr(3)) : nullptr;
      constexpr ProcessorRows kRows = {"cpu.*.busy", "cpu.*.user", "cpu.*.system", "cpu.*.iowait", "cpu.*.steal"};
      if (set != nullptr) set_times(*times, kRows, *set, reading);
    } else if (word == "procs_running") {
      host_.set_if(reading, "queue.running", next_number(*line));
    } else if (word == "procs_blocked") {
      host_.set_if(reading, "queue.blocked", next_number(*line));
    }
  }
  if (online > 0) host_.set(reading, "cpu.online", online);
}

void ProcessorProbe::take_loadavg(std::string_view text, Reading& reading) {
  auto line = next_line(text);
  if (!line) return;
  const auto load = parse_double(next_word(*line));
  if (load && *load >= 0) host_.set(reading, "load.1m", *load);
}

}  // namespace trainwarden::machine
