// Metric: what is sampled over time beside the steps (processors, memory, GPUs), and its samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

// What a sample's value says.
enum class MetricKind : std::uint8_t {
  kGauge,    // how much there is at that moment: bytes in use, degrees
  kCounter,  // how much there has been since some beginning; never falls but when it starts again at 0
  kDelta,    // how much there was since the sample before
  kRatio,    // a share, from 0 to 1
  kUnknown,  // of a newer writer
};
TRAINWARDEN_API std::string_view name(MetricKind kind);  // "gauge", "counter", "delta", "ratio", "unknown"

// Whose metric it is.
enum class MetricSource : std::uint8_t {
  kHost,     // the machine
  kProcess,  // one process on it
  kDevice,   // an accelerator
  kRank,     // a worker of the training
  kUnknown,  // of a newer writer
};
TRAINWARDEN_API std::string_view name(MetricSource source);  // "host", "process", "device", "rank", "unknown"

// Two metrics are the same when name, source and instance are.
struct Metric {
  std::string name;  // "cpu.3.utilisation"; any bytes
  std::string unit;  // "bytes", "seconds", "celsius"; empty: none
  MetricKind kind = MetricKind::kGauge;
  MetricSource source = MetricSource::kHost;
  std::string instance;  // which host, process, device or rank: "node7", "4711", "GPU-0"; empty: the only one
  friend bool operator==(const Metric&, const Metric&) = default;
};

// A metric as one worker of the run has sampled it, or as it was found in what a worker printed.
struct SampledMetric {
  Metric metric;
  std::string worker;  // "rank-00000"; of what a program prints, "output-0"
  friend bool operator==(const SampledMetric&, const SampledMetric&) = default;
};

struct Sample {
  std::int64_t unix_ns = 0;
  double value = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

}  // namespace trainwarden
