// RunLength: how many steps a run is to take, as far as its labels say so, and how long the rest of them will last.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "trainwarden/trial.h"

namespace trainwarden::views {

using Labels = std::map<std::string, std::string>;

// Both count steps of mode train, or all where no mode is set.
struct RunLength {
  std::int64_t total_steps = 0;
  std::int64_t done_steps = 0;
  std::string label;         // that says it: "total_steps", "epochs"
  bool is_estimate = false;  // it counts epochs: their steps are those of the ones that are over
  // Of a run that goes on: at the pace of the newer half of its steps, evaluations between them included.
  std::optional<std::int64_t> seconds_left;
};

// None where no label says it, where epochs are counted and none is over or not all of them train, and where more steps
// were taken than were said.
std::optional<RunLength> run_length(Trial& trial, const Labels& labels);

// The label that gives a number of steps, and that number.
std::optional<std::pair<std::string, std::int64_t>> said_steps(const Labels& labels);

}  // namespace trainwarden::views
