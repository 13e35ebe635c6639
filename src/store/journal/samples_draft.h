// Samples draft: a batch of samples as frames, in the order in which they are written.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "store/journal/append_draft.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/metric.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

using MetricsById = std::unordered_map<std::uint32_t, Metric>;

// kInvalidArgument when a table is not as it must be, or has a metric that is not in `metrics`.
Status check_batch(const SampleBatch& batch, const MetricsById& metrics);

// [names][samples][samples]..., the first only when the segment does not have all metrics (`named`). Of a batch
// that was checked.
AppendDraft draft_samples(const SampleBatch& batch, const MetricsById& metrics,
                          const std::unordered_set<std::uint32_t>& named);

}  // namespace trainwarden::journal
