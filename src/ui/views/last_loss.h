// The newest loss of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainwarden/trial.h"

namespace trainwarden::views {

struct LossNow {
  std::string tensor;
  std::int64_t step = 0;  // global
  double value = 0;
};

// The newest number of collection `losses`; of several at that step the first by name.
std::optional<LossNow> last_loss(Trial& trial);

}  // namespace trainwarden::views
