// How fast `trainwarden check` reads a recorded run, beside how fast the disk and the page cache give its bytes.
#pragma once

#include <vector>

#include "bench.h"
#include "trainwarden/status.h"

namespace trainwarden::bench {

Result<std::vector<Figure>> check_vs_disk();  // of runs that the page cache does not hold
Result<std::vector<Figure>> check_vs_read();  // of runs that it holds

}  // namespace trainwarden::bench
