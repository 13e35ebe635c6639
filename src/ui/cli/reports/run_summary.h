// RunSummary: a run in a few words, for `ls`, `show` and the line that closes `run`.
#pragma once

#include <cstdint>
#include <string>

#include "react/events/run_view.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

// How a run's state and its status are shown together: "completed", "failed" where its hook was closed and its program
// failed, or both, as "completed (Stopped)", where they say different things.
std::string status_text(RunState state, const events::RunView& view);
std::string status_text(RunState state, events::SecondaryStatus status);

// Written by another recorder than ours; its folder is only read.
bool is_foreign(const Trial& trial);

// How long ago, for people: "just now", "3 min 5 s ago".
std::string age_text(std::int64_t then_unix_ns, std::int64_t now_unix_ns);

}  // namespace trainwarden::cli
