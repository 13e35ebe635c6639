#include "measure/machine/pressure_probe.h"

#include "measure/machine/words.h"

namespace trainwarden::machine {

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12". The total is exact over any time; the averages are of fixed ones.
PressureTotals parse_pressure(std::string_view text) {
  PressureTotals totals;
  while (auto line = next_line(text)) {
    const std::string_view which = next_word(*line);
    std::optional<std::uint64_t> total;
    for (std::string_view word = next_word(*line); !word.empty(); word = next_word(*line)) {
      constexpr std::string_view kTotal = "total=";
      if (word.starts_with(kTotal)) total = to_number(word.substr(kTotal.size()));
    }
    if (which == "some") totals.some_us = total;
    if (which == "full") totals.full_us = total;
  }
  return totals;
}

void PressureFile::read(FileBuffer& buffer, MetricSet& set, Reading& reading) {
  const auto text = file_.read(buffer);
  if (!text) return;
  const PressureTotals totals = parse_pressure(*text);
  set.set_if(reading, some_, totals.some_us, kMicroseconds);
  set.set_if(reading, full_, totals.full_us, kMicroseconds);
}

PressureProbe::PressureProbe(const HostPlan& plan)
    : host_(plan.host),
      files_{PressureFile(plan.root / "proc/pressure/cpu", "pressure.cpu.some", "pressure.cpu.full"),
             PressureFile(plan.root / "proc/pressure/io", "pressure.io.some", "pressure.io.full"),
             PressureFile(plan.root / "proc/pressure/memory", "pressure.memory.some", "pressure.memory.full")} {}

void PressureProbe::read(Reading& reading) {
  for (PressureFile& file : files_) file.read(buffer_, host_, reading);
}

}  // namespace trainwarden::machine
