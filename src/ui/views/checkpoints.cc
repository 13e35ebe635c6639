#include "ui/views/checkpoints.h"

#include <algorithm>
#include <utility>

#include "read/trial/trial_access.h"

namespace trainwarden::views {

std::vector<WorkerCheckpoint> read_checkpoints(const Trial& trial) {
  std::vector<WorkerCheckpoint> checkpoints;
  TrialAccess::visit_events(trial, [&](const std::string& worker, const journal::EventEntry& entry) {
    if (entry.kind != format::FrameKind::kEvent) return;
    auto event = format::decode_checkpoint_event(entry.json);
    if (!event.ok() || !*event) return;
    WorkerCheckpoint checkpoint{worker, **std::move(event), entry.unix_ns};
    const auto known = std::find_if(checkpoints.begin(), checkpoints.end(), [&](const WorkerCheckpoint& other) {
      return other.worker == checkpoint.worker && other.event.key == checkpoint.event.key;
    });
    if (known == checkpoints.end()) {
      checkpoints.push_back(std::move(checkpoint));
    } else {
      *known = std::move(checkpoint);
    }
  });
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
