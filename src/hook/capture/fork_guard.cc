#include "hook/capture/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace trainwarden::capture {
namespace {

std::atomic<std::uint32_t> generation = 0;

}  // namespace

std::uint32_t fork_generation() {
  return generation.load(std::memory_order_relaxed);
}

void watch_forks() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

}  // namespace trainwarden::capture
