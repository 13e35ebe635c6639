#include "hook/capture/writing/loss_tally.h"

#include <algorithm>
#include <string_view>

namespace trainwarden {

std::string_view name(LossCause cause) {
  switch (cause) {
    case LossCause::kStagingFull: return "staging_full";
    case LossCause::kTooLarge: return "too_large";
    case LossCause::kWriteFailed: return "write_failed";
    case LossCause::kUnsupported: return "unsupported";
    case LossCause::kHookOff: return "hook_off";
    case LossCause::kOutOfMemory: return "out_of_memory";
    case LossCause::kDeviceFailed: return "device_failed";
    case LossCause::kSyncFailed: return "sync_failed";
    case LossCause::kRunBytes: return "run_bytes";
    case LossCause::kDiskReserve: return "disk_reserve";
  }
  return "unknown cause";
}

namespace capture {

void LossTally::merge(const LossTally& other) {
  for (std::size_t i = 0; i < by_cause_.size(); ++i) {
    const CaptureLoss& loss = other.by_cause_[i];
    if (loss.count == 0) continue;
    add(static_cast<LossCause>(i), loss.count, loss.bytes, [&] { return loss.first_message; });
  }
}

bool LossTally::empty() const {
  return count() == 0;
}

std::uint64_t LossTally::count() const {
  std::uint64_t count = 0;
  for (const CaptureLoss& loss : by_cause_) count += loss.count;
  return count;
}

std::vector<CaptureLoss> LossTally::losses() const {
  std::vector<CaptureLoss> losses;
  for (std::size_t i = 0; i < by_cause_.size(); ++i) {
    if (by_cause_[i].count == 0) continue;
    losses.push_back(by_cause_[i]);
    losses.back().cause = static_cast<LossCause>(i);
  }
  return losses;
}

std::vector<journal::LossRow> LossTally::rows() const {
  std::vector<journal::LossRow> rows;
  for (const CaptureLoss& loss : losses()) {
    rows.push_back({std::string(name(loss.cause)), loss.count, loss.bytes, loss.first_message});
  }
  return rows;
}

}  // namespace capture
}  // namespace trainwarden
