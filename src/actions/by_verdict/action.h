// Action: what is done when a rule has fired.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::actions::by_verdict {

// A verdict that fired, as far as an action needs to know of it.
struct FiredVerdict {
  std::string rule_id;  // "VanishingGradient", "VanishingGradient-2": one rule of one engine
  std::int64_t global_step = 0;
  std::string step_text;  // "step 120 (train 100)"
  Verdict verdict;
};

// The same for the same rule and step, whoever judges and however often: "vanishinggradient-120". Fit for a file name.
std::string idempotency_key(const FiredVerdict& fired);

// Valid during run() only.
struct ActionContext {
  const FiredVerdict& fired;
  std::string key;           // idempotency_key(fired)
  std::string requested_by;  // who judged: "watch-0"
  std::stop_token stop{};    // asked for when the caller wants to leave; an action that waits then returns kCancelled
};

class Action {
 public:
  virtual ~Action() = default;
  virtual std::string_view name() const = 0;  // "stop"
  // May be called more than once with the same key, also by another process, and must then do no harm.
  virtual Status run(const ActionContext& context) = 0;
};

}  // namespace trainwarden::actions::by_verdict
