// Many tasks on a few threads.
#pragma once

#include <cstddef>
#include <functional>

#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// How many threads a caller gets who asks for `wanted`: as many as the machine has processors when it is 0, and never
// more than kMaxThreads.
inline constexpr int kMaxThreads = 64;
int thread_count(int wanted);

// Calls task(0) to task(count - 1), each once, on up to `threads` threads (this one among them), and waits for all. The
// first tasks are begun first. After a task has failed no further one is begun; the failure of the first of them, by
// number, is returned. A task that throws has failed. Where no thread can be started, the others do its work.
Status for_each_task(std::size_t count, int threads, const std::function<Status(std::size_t)>& task);

}  // namespace trainwarden::upkeep
