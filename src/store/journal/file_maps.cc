#include "store/journal/file_maps.h"

#include <atomic>

namespace trainwarden::journal {
namespace {

std::atomic<bool> maps_allowed = false;

}  // namespace

void allow_file_maps(bool allowed) {
  maps_allowed.store(allowed, std::memory_order_relaxed);
}

bool file_maps_allowed() {
  return maps_allowed.load(std::memory_order_relaxed);
}

}  // namespace trainwarden::journal
