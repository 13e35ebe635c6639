// SampleBuffer: what samplers have read and nobody has written yet, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "data/format/sample_table_draft.h"
#include "measure/machine/reading.h"
#include "measure/sampling/tick_times.h"
#include "store/journal/journal_writer.h"

namespace trainwarden::sampling {

// So many full tables wait; then the oldest is given up: 4 million samples, 64 MiB.
inline constexpr std::size_t kMaxWaitingTables = 16;

// From any thread.
class SampleBuffer {
 public:
  // For so many samplers, which are numbered from 0.
  explicit SampleBuffer(std::size_t samplers) : samplers_(samplers) {}

  void take(std::size_t sampler, const machine::Reading& reading, const TickTime& time);
  // All there is, and the metrics that are new in it; the numbers of metrics count over all samplers.
  journal::SampleBatch drain();
  std::uint64_t lost_samples() const;  // given up here, or reported by lose()
  void lose(const journal::SampleBatch& batch);

 private:
  struct Sampler {
    std::vector<std::uint32_t> numbers;  // of its metrics, by its own numbers
    format::SampleTableDraft draft;
  };

  void name_new(Sampler& sampler, const std::vector<Metric>& metrics);
  void end_table(Sampler& sampler);

  mutable std::mutex mutex_;
  std::vector<Sampler> samplers_;
  std::uint32_t metrics_ = 0;
  std::vector<journal::MetricEntry> new_metrics_;
  std::deque<journal::SampleTable> full_;
  std::uint64_t lost_ = 0;
};

}  // namespace trainwarden::sampling
