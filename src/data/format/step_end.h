// Step end: the step is visible from here on, and what of it was not kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// What was not kept in a step, by cause.
struct LossRow {
  std::string cause;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::string message;
  friend bool operator==(const LossRow&, const LossRow&) = default;
};

// The cause of what was kept, and thinned out later because somebody wanted the room (`trainwarden gc`).
inline constexpr std::string_view kThinnedCause = "thinned";

// The global step and the time are in the frame's header.
struct StepEndRecord {
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::vector<LossRow> losses;
  friend bool operator==(const StepEndRecord&, const StepEndRecord&) = default;
};

std::string encode_step_end(const StepEndRecord& record);
Result<StepEndRecord> decode_step_end(std::string_view json);

}  // namespace trainwarden::format
