// Profile span: from when to when a training went.
#pragma once

#include <cstdint>

#include "trainwarden/trial.h"

namespace trainwarden::views {

struct ProfileSpan {
  std::int64_t from_unix_ns = 0;  // the run was made
  std::int64_t to_unix_ns = 0;    // exclusive. Its last worker said that it ends; else the newest of steps and samples
};

// What was sampled after a training's end, while its program tidied up or a sampler went on, is no part of it.
ProfileSpan profile_span(Trial& trial);

}  // namespace trainwarden::views
