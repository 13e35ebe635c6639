// Faults: counted, and logged while they are news.
#include "faults.h"

#include <atomic>
#include <cstdio>

namespace trainwarden::torch {
namespace {

constexpr std::uint64_t kShownFaults = 3;
std::atomic<std::uint64_t> faults = 0;

}  // namespace

void report_fault(std::string_view doing, std::string_view what) noexcept {
  const std::uint64_t number = faults.fetch_add(1) + 1;
  if (number > kShownFaults) return;
  std::fprintf(stderr, "trainwarden: error: could not %.*s: %.*s%s\n", static_cast<int>(doing.size()), doing.data(),
               static_cast<int>(what.size()), what.data(),
               number == kShownFaults ? " (further faults of the LibTorch adapter are only counted)" : "");
}

std::uint64_t fault_count() noexcept {
  return faults.load();
}

}  // namespace trainwarden::torch
