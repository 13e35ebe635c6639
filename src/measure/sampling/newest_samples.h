// NewestSamples: the newest value of each metric, for who asks at any time and not for a run.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "measure/machine/reading.h"
#include "trainwarden/metric.h"

namespace trainwarden::sampling {

// A value that is older has gone: the process has ended, the disk was taken out, the driver hangs. Longer than any
// probe rests at the default intervals.
inline constexpr std::int64_t kFreshNs = 15'000'000'000;

struct NewestSample {
  Metric metric;
  double value = 0;
};

// From any thread.
class NewestSamples {
 public:
  // For so many samplers, which are numbered from 0. `fresh_ns`: how long a value is shown.
  explicit NewestSamples(std::size_t samplers, std::int64_t fresh_ns = kFreshNs)
      : fresh_ns_(fresh_ns), samplers_(samplers) {}

  void take(std::size_t sampler, const machine::Reading& reading, std::int64_t steady_ns);
  // Those that are not too old, of each sampler in the order in which it found them.
  std::vector<NewestSample> at(std::int64_t steady_ns) const;

 private:
  struct Value {
    double value = 0;
    std::int64_t steady_ns = 0;
    bool known = false;
  };
  struct Sampler {
    std::vector<Metric> metrics;
    std::vector<Value> values;  // by number
  };

  const std::int64_t fresh_ns_;
  mutable std::mutex mutex_;
  std::vector<Sampler> samplers_;
};

}  // namespace trainwarden::sampling
