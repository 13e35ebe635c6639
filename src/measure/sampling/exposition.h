// Exposition: samples as the text that Prometheus scrapes.
//
// A metric of the table (src/measure/machine/metric_table.h) is a family: "cpu.*.busy", in seconds, a counter, becomes
// trainwarden_cpu_busy_seconds_total{cpu="3"}. What is of all of a kind, and would have the name of what is of each,
// has "all" in it: "cpu.busy" is trainwarden_all_cpu_busy_seconds_total. Nobody should add up both.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "measure/sampling/newest_samples.h"

namespace trainwarden::sampling {

enum class ExpositionFormat : std::uint8_t {
  kPrometheus,   // text format 0.0.4
  kOpenMetrics,  // 1.0.0
};
std::string_view content_type_of(ExpositionFormat format);

// Valid for any bytes in names and instances. `host` is a label of each sample. No times: they are of the scrape.
std::string exposition(std::span<const NewestSample> samples, const std::string& host, ExpositionFormat format);

}  // namespace trainwarden::sampling
