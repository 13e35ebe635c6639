// Capture events: what a worker says of what its capture costs, and of requests to change what is captured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// What a training may cost at its start, whatever its budget: one of a few seconds is seen whole.
inline constexpr std::int64_t kStartAllowanceNs = 100'000'000;

// {"type": "budget", ...}: the bill so far, and what is left out to keep to the budget.
struct BudgetEvent {
  std::int64_t global_step = 0;  // of the step that ended last
  Mode mode = Mode::kGlobal;     // in which what follows holds
  std::int64_t interval_factor = 1;
  std::int64_t losses_factor = 1;
  std::int64_t signals_factor = 1;
  std::vector<std::string> dropped;  // "histogram", "hash", "values"
  double budget = 0;                 // 0: none
  std::int64_t training_ns = 0;      // over all modes
  std::int64_t capture_ns = 0;       // of it
  friend bool operator==(const BudgetEvent&, const BudgetEvent&) = default;
};

// {"type": "capture_accepted", ...} or {"type": "capture_refused", ...}
struct CaptureAnswer {
  std::string key;     // of the request; empty when a configuration file was edited
  std::string source;  // "control/capture-<key>.json", or the configuration's path
  bool accepted = false;
  std::int64_t global_step = 0;  // accepted: the first step for which it holds
  std::string error;             // refused: why
  friend bool operator==(const CaptureAnswer&, const CaptureAnswer&) = default;
};

std::string encode_budget_event(const BudgetEvent& event);
std::string encode_capture_answer(const CaptureAnswer& answer);

// None when the event is of another type.
Result<std::optional<BudgetEvent>> decode_budget_event(std::string_view json);
Result<std::optional<CaptureAnswer>> decode_capture_answer(std::string_view json);

}  // namespace trainwarden::format
