#include "cli/checkpoint_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/table.h"
#include "trial/trial_access.h"

namespace trainwarden::cli {
namespace {

using format::CheckpointState;

const char* state_text(CheckpointState state) {
  switch (state) {
    case CheckpointState::kAccepted: return "accepted";
    case CheckpointState::kSaved: return "saved";
    case CheckpointState::kRefused: return "refused";
  }
  return "unknown";
}

std::string outcome_text(const format::CheckpointEvent& event) {
  if (event.state == CheckpointState::kAccepted) return "is being saved";
  if (event.state == CheckpointState::kRefused) return fmt::format("not saved: {}", printable(event.error));
  if (event.path.empty()) return "saved";
  return event.bytes == 0 ? printable(event.path)
                          : fmt::format("{} ({})", printable(event.path), format_bytes(event.bytes));
}

}  // namespace

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

Json json_of(const WorkerCheckpoint& checkpoint) {
  const format::CheckpointEvent& event = checkpoint.event;
  return {{"worker", checkpoint.worker},
          {"key", event.key},
          {"state", state_text(event.state)},
          {"global_step", event.global_step},
          {"path", event.path},
          {"bytes", event.bytes},
          {"duration_ns", event.duration_ns},
          {"error", event.error},
          {"reason", event.reason},
          {"requested_by", event.requested_by},
          {"unix_ns", checkpoint.unix_ns}};
}

void print_checkpoints(std::FILE* out, const std::vector<WorkerCheckpoint>& checkpoints) {
  if (checkpoints.empty()) return;
  Table table({{"SAVED ON REQUEST"}, {"AFTER STEP", Align::kRight}, {"WORKER"}, {"WHY"}});
  for (const WorkerCheckpoint& checkpoint : checkpoints) {
    const format::CheckpointEvent& event = checkpoint.event;
    table.add_row({outcome_text(event), std::to_string(event.global_step), checkpoint.worker,
                   printable(event.reason.empty() ? event.requested_by : event.reason)});
  }
  fmt::print(out, "\n{}", table.to_string());
}

}  // namespace trainwarden::cli
