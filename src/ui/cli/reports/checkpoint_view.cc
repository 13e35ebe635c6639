#include "ui/cli/reports/checkpoint_view.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using format::CheckpointState;

std::string outcome_text(const format::CheckpointEvent& event) {
  if (event.state == CheckpointState::kAccepted) return "is being saved";
  if (event.state == CheckpointState::kRefused) return fmt::format("not saved: {}", printable(event.error));
  if (event.path.empty()) return "saved";
  return event.bytes == 0 ? printable(event.path)
                          : fmt::format("{} ({})", printable(event.path), format_bytes(event.bytes));
}

}  // namespace

OrderedJson json_of(const views::WorkerCheckpoint& checkpoint) {
  const format::CheckpointEvent& event = checkpoint.event;
  return {{"worker", checkpoint.worker},
          {"key", event.key},
          {"state", views::state_text(event.state)},
          {"global_step", event.global_step},
          {"path", event.path},
          {"bytes", event.bytes},
          {"duration_ns", event.duration_ns},
          {"error", event.error},
          {"reason", event.reason},
          {"requested_by", event.requested_by},
          {"unix_ns", checkpoint.unix_ns}};
}

void print_checkpoints(std::FILE* out, const std::vector<views::WorkerCheckpoint>& checkpoints) {
  if (checkpoints.empty()) return;
  Table table({{"SAVED ON REQUEST"}, {"AFTER STEP", Align::kRight}, {"WORKER"}, {"WHY"}});
  for (const views::WorkerCheckpoint& checkpoint : checkpoints) {
    const format::CheckpointEvent& event = checkpoint.event;
    table.add_row({outcome_text(event), std::to_string(event.global_step), checkpoint.worker,
                   event.reason.empty() ? event.requested_by : event.reason});
  }
  emit(out, "\n{}", Lines{table.to_string()});
}

}  // namespace trainwarden::cli
