#include "views/checkpoints.h"

#include <algorithm>
#include <utility>

#include "trial/trial_access.h"

namespace trainwarden::views {

std::vector<WorkerCheckpoint> read_checkpoints(const Trial& trial) {
  std::vector<WorkerCheckpoint> checkpoints;
  for (const WorkerEvent& entry : TrialAccess::events(trial)) {
    if (entry.event.kind != format::FrameKind::kEvent) continue;
    auto event = format::decode_checkpoint_event(entry.event.json);
    if (!event.ok() || !*event) continue;
    WorkerCheckpoint checkpoint{entry.worker, **std::move(event), entry.event.unix_ns};
    const auto known = std::find_if(checkpoints.begin(), checkpoints.end(), [&](const WorkerCheckpoint& other) {
      return other.worker == checkpoint.worker && other.event.key == checkpoint.event.key;
    });
    if (known == checkpoints.end()) {
      checkpoints.push_back(std::move(checkpoint));
    } else {
      *known = std::move(checkpoint);
    }
  }
  return checkpoints;
}

std::string_view state_text(format::CheckpointState state) {
  switch (state) {
    case format::CheckpointState::kAccepted: return "accepted";
    case format::CheckpointState::kSaved: return "saved";
    case format::CheckpointState::kRefused: return "refused";
  }
  return "unknown";
}

}  // namespace trainwarden::views
