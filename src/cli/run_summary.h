// RunSummary: a run in a few words, for `ls`, `show` and the line that closes `run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/run_view.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

struct LossNow {
  std::string tensor;
  std::int64_t step = 0;  // global
  double value = 0;
};

// The newest number of collection `losses`; of several at that step the first by name.
std::optional<LossNow> last_loss(Trial& trial);

// How a run's state and its status are told together: "completed", or "completed (Failed)" when its exit code says
// more.
std::string status_text(RunState state, const events::RunView& view);

// Written by another recorder than ours; its folder is only read.
bool is_foreign(const Trial& trial);

// How long ago, for people: "just now", "3 min 5 s ago".
std::string age_text(std::int64_t then_unix_ns, std::int64_t now_unix_ns);

}  // namespace trainwarden::cli
