#include "measure/sampling/newest_samples.h"

namespace trainwarden::sampling {

void NewestSamples::take(std::size_t number, const machine::Reading& reading, std::int64_t steady_ns) {
  const std::lock_guard lock(mutex_);
  Sampler& sampler = samplers_[number];
  const std::vector<Metric>& metrics = reading.metrics();
  for (std::size_t i = sampler.metrics.size(); i < metrics.size(); ++i) sampler.metrics.push_back(metrics[i]);
  sampler.values.resize(metrics.size());
  for (const machine::Reading::Value& value : reading.values()) {
    sampler.values[value.metric] = {value.value, steady_ns, true};
  }
}

std::vector<NewestSample> NewestSamples::at(std::int64_t steady_ns) const {
  const std::lock_guard lock(mutex_);
  std::vector<NewestSample> found;
  for (const Sampler& sampler : samplers_) {
    for (std::size_t i = 0; i < sampler.metrics.size(); ++i) {
      const Value& value = sampler.values[i];
      if (value.known && steady_ns - value.steady_ns <= fresh_ns_) found.push_back({sampler.metrics[i], value.value});
    }
  }
  return found;
}

}  // namespace trainwarden::sampling
