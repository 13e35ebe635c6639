// await(): what a test does in place of sleeping. It waits for the thing itself.
#pragma once

#include <chrono>
#include <thread>

namespace trainwarden {

// Looks until `is_so()`; false when that was not so for a minute, which is for what never comes: on a machine that has
// much else to do everything takes long.
template <class Condition>
bool await(const Condition& is_so, std::chrono::milliseconds between_looks = std::chrono::milliseconds(5)) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(between_looks);
  }
  return true;
}

}  // namespace trainwarden
