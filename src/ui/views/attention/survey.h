// The survey: all heads of all layers at one step, as small pictures and numbers, and their numbers over all steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/views/attention/head_metrics.h"
#include "ui/views/attention/run_attention.h"

namespace trainwarden::views::attention {

inline constexpr std::int64_t kMostAtlasSize = 128;
// No survey multiplies more often than this at one step: about a minute of one core.
inline constexpr double kMostSurveyProducts = 5e11;

// The metrics of all heads at one step.
struct Survey {
  std::int64_t layers = 0;
  std::int64_t heads = 0;            // of the layer that has most; the others' further ones are NaN
  std::vector<HeadMetrics> metrics;  // [layers, heads]
  std::string error;                 // why there are none; else empty
};

struct Atlas {
  std::int64_t size = 0;
  Survey survey;
  std::vector<std::uint8_t> max;   // [layers, heads, size, size], see pooling.h; 0 where there is no head
  std::vector<std::uint8_t> mean;  // the same
  std::int64_t query_length = 0;   // of the first layer that is there
  std::int64_t key_length = 0;
  std::string note;  // which layers are not there, and why
};

struct AtlasLook {
  AttentionStep place;
  std::shared_ptr<const Atlas> atlas;
};

// kOutOfRange when no layer has the item, kResourceExhausted for texts that would take too long.
Result<AtlasLook> look_at_atlas(const RunAttention& attention, std::optional<std::int64_t> step, std::int64_t item,
                                std::int64_t size);

struct MetricsOverSteps {
  std::vector<std::int64_t> steps;                     // global, in order
  std::vector<std::shared_ptr<const Survey>> surveys;  // as many
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t pending = 0;  // steps that are not measured yet: ask again
  std::string note;          // a step that could not be measured, and why
};

// Goes on with what is not yet known for about `patience`, spread evenly over the steps; what was measured once is
// remembered. At least one step is measured each time.
Result<MetricsOverSteps> measure_steps(const RunAttention& attention, std::int64_t item,
                                       std::chrono::milliseconds patience);

}  // namespace trainwarden::views::attention
