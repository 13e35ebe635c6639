// Save policy: at which steps, in which modes and in which form tensors are kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/mode.h"

namespace trainwarden {

// The steps of one mode that are wanted: step ∈ save_steps, or start_step ≤ step < end_step and
// step mod save_interval = 0. The modulo is on the absolute step; save_steps hold outside [start, end) too.
// Source: smdebug's SaveConfigMode.
struct TRAINWARDEN_API SaveSchedule {
  std::int64_t save_interval = 500;  // at least 1
  std::int64_t start_step = 0;
  std::optional<std::int64_t> end_step = {};  // exclusive; none: no end; 0: only save_steps
  std::vector<std::int64_t> save_steps = {};

  // With `interval_factor` the interval is that many times as long; save_steps stay.
  bool wants(std::int64_t step, std::int64_t interval_factor = 1) const;
  // The first wanted step ≥ `step`, none when there will be no more.
  std::optional<std::int64_t> next_wanted(std::int64_t step, std::int64_t interval_factor = 1) const;
  bool lists(std::int64_t step) const;  // step ∈ save_steps
  friend bool operator==(const SaveSchedule&, const SaveSchedule&) = default;
};

// A schedule for each mode, decided with the mode's own step. A mode without one takes the policy that stands above
// (the collection takes the hook's, the hook's takes the default SaveSchedule).
struct TRAINWARDEN_API SavePolicy {
  std::array<std::optional<SaveSchedule>, 4> by_mode = {};  // at index_of(mode)

  static SavePolicy every(std::int64_t save_interval);  // the same schedule for all modes
  static SavePolicy of(const SaveSchedule& schedule);
  std::optional<SaveSchedule>& operator[](Mode mode) { return by_mode[index_of(mode)]; }
  const std::optional<SaveSchedule>& operator[](Mode mode) const { return by_mode[index_of(mode)]; }
  SavePolicy filled_from(const SavePolicy& above) const;
  friend bool operator==(const SavePolicy&, const SavePolicy&) = default;
};

// In which form a wanted tensor is kept. Several may be true; a tensor of several collections gets their union.
struct KeepForm {
  bool values = true;       // whole
  bool statistics = false;  // the core statistics: every Reduction and its abs form can be read
  bool histogram = false;   // implies statistics
  bool hash = false;        // implies statistics
  bool shape = false;       // shape and dtype only

  static KeepForm whole() { return {}; }
  static KeepForm reduced() { return {.values = false, .statistics = true}; }
  bool any_statistics() const { return statistics || histogram || hash; }
  friend bool operator==(const KeepForm&, const KeepForm&) = default;
};

}  // namespace trainwarden
