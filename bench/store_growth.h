// Figures of the store at its limit: a long run, many workers, many scalars.
#pragma once

#include <vector>

#include "bench.h"

namespace trainwarden::bench {

Result<std::vector<Figure>> measure_open_10m();
Result<std::vector<Figure>> measure_tail_256();
Result<std::vector<Figure>> measure_scalars();

}  // namespace trainwarden::bench
