#include "read/profile/call_family.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainwarden::profile {
namespace {

void drop_unused_tracks(OperatorBatch& batch) {
  std::vector<char> used(batch.tracks.size());
  for (const OperatorCall& call : batch.calls) used[call.track] = 1;
  std::vector<OperatorTrack> kept;
  std::vector<std::uint32_t> place(batch.tracks.size());
  for (std::size_t track = 0; track < batch.tracks.size(); ++track) {
    place[track] = static_cast<std::uint32_t>(kept.size());
    if (used[track] != 0) kept.push_back(std::move(batch.tracks[track]));
  }
  batch.tracks = std::move(kept);
  for (OperatorCall& call : batch.calls) call.track = place[call.track];
}

}  // namespace

bool has_calls_of(const OperatorBatch& batch, CallFamily family) {
  return std::any_of(batch.calls.begin(), batch.calls.end(),
                     [family](const OperatorCall& call) { return family_of(call.kind) == family; });
}

OperatorBatch calls_of(OperatorBatch batch, CallFamily family) {
  const std::size_t dropped =
      std::erase_if(batch.calls, [family](const OperatorCall& call) { return family_of(call.kind) != family; });
  if (family == CallFamily::kPython) {
    batch.memory.clear();
    batch.lost_calls = 0;
  }
  if (dropped > 0) drop_unused_tracks(batch);
  return batch;
}

}  // namespace trainwarden::profile
