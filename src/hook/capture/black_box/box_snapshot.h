// BoxSnapshot: the steps that a dump is made of. They stay as they are until the snapshot is released, while training
// goes on in what is left of the memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hook/capture/black_box/box_slot.h"
#include "hook/capture/step_counter.h"

namespace trainwarden::capture {

struct BoxStep {
  const BoxSlot* slot = nullptr;
  StepId id;
  std::int64_t unix_ns = 0;      // when it ended; of an open step when the snapshot was taken
  bool open = false;             // it had not ended
  std::uint32_t item_count = 0;  // slot->item(i) is there for each i below
  std::uint64_t missing_count = 0;
  std::uint64_t missing_bytes = 0;
};

inline constexpr int kMaxBoxSteps = 64;

// Fixed in size, so that a signal handler can have one. Oldest step first.
struct BoxSnapshot {
  std::array<BoxStep, kMaxBoxSteps + 1> steps;
  std::size_t count = 0;

  const BoxStep* begin() const { return steps.data(); }
  const BoxStep* end() const { return steps.data() + count; }
};

}  // namespace trainwarden::capture
