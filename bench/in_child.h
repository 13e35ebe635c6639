// Measures in a process of its own: what it takes of memory is then of this alone, and nothing is left behind.
#pragma once

#include <functional>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::bench {

struct ChildReport {
  std::vector<double> numbers;  // that `work` returned
  double peak_mib = 0;          // of its memory, the program's own few MiB with it
};

// Must be called while the process has one thread. An exception in `work` is an error here.
Result<ChildReport> in_child(const std::function<std::vector<double>()>& work);

// Nanoseconds of the processor that the calling thread has taken so far.
double thread_cpu_ns();

}  // namespace trainwarden::bench
