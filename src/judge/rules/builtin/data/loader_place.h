// Where a step's batch came from, as the data loader reports in signals (docs/format/signals.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

struct LoaderPlace {
  std::int64_t epoch = 0;
  std::int64_t number = 0;  // of the batch in the epoch
  friend bool operator==(const LoaderPlace&, const LoaderPlace&) = default;
};

// None when the worker took no batch from a data loader at this step, or none that is known.
std::optional<LoaderPlace> loader_place(const std::string& worker, const StepWindow& window);

// The first rank of those that rightly train on the same batches, as they share one model; none when this one shares
// none.
std::optional<std::int64_t> batch_group(const std::string& worker, const StepWindow& window);

// How many samples the step's batches have, by the indices that the loader's sampler gave, and a hash of these.
struct SampleIndices {
  std::int64_t count = 0;
  std::uint64_t hash = 0;
};
std::optional<SampleIndices> sample_indices(const std::string& worker, const StepWindow& window);

}  // namespace trainwarden::rules
