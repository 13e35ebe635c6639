// Checkpoint events: what a worker says of a request to save the training's state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

enum class CheckpointState : std::uint8_t {
  kAccepted,  // it begins to save; when nothing follows, it died or still saves
  kSaved,
  kRefused,  // nothing was saved, and nothing will be
};

// {"type": "checkpoint_accepted" | "checkpoint_saved" | "checkpoint_refused", ...}. Each worker answers for itself.
struct CheckpointEvent {
  CheckpointState state = CheckpointState::kAccepted;
  std::string key;                // of the request
  std::string reason;             // of the request
  std::string requested_by;       // of the request
  std::int64_t global_step = -1;  // that ended last: the checkpoint holds what it left. -1: none had ended
  // Saved: the file or folder, relative to the run's folder when it lies in there, as a URL when it is one, else
  // absolute; empty when the program does not say.
  std::string path;
  std::int64_t bytes = 0;        // saved: of all files there; 0 where that is not known
  std::int64_t duration_ns = 0;  // saved: for so long the training stood still
  std::string error;             // refused: why
  friend bool operator==(const CheckpointEvent&, const CheckpointEvent&) = default;
};

std::string encode_checkpoint_event(const CheckpointEvent& event);
// None when the event is of another type.
Result<std::optional<CheckpointEvent>> decode_checkpoint_event(std::string_view json);

}  // namespace trainwarden::format
