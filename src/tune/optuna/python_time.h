// Times as Python writes them.
#pragma once

#include <cstdint>
#include <string>

#include "trainwarden/status.h"

namespace trainwarden::tune {

// "2026-11-27 13:38:13.243084", also with T and without the fraction, in nanoseconds since 1970. Of this machine's time
// zone, as Optuna has it, unless it ends with an offset such as +00:00. kDataLoss when it is none.
Result<std::int64_t> python_local_time(const std::string& text);

}  // namespace trainwarden::tune
