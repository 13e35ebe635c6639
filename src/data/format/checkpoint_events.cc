#include "data/format/checkpoint_events.h"

#include "core/base/secret_mask.h"
#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kCheckpointAccepted = "checkpoint_accepted";
constexpr const char* kSavedType = "checkpoint_saved";
constexpr const char* kCheckpointRefused = "checkpoint_refused";

const char* type_of(CheckpointState state) {
  switch (state) {
    case CheckpointState::kAccepted: return kCheckpointAccepted;
    case CheckpointState::kSaved: return kSavedType;
    case CheckpointState::kRefused: return kCheckpointRefused;
  }
  return kCheckpointRefused;
}

std::optional<CheckpointState> state_of(std::string_view type) {
  if (type == kCheckpointAccepted) return CheckpointState::kAccepted;
  if (type == kSavedType) return CheckpointState::kSaved;
  if (type == kCheckpointRefused) return CheckpointState::kRefused;
  return std::nullopt;
}

}  // namespace

std::string encode_checkpoint_event(const CheckpointEvent& event) {
  OrderedJson json = {{"type", type_of(event.state)},
                      {"key", event.key},
                      {"reason", mask_secrets(event.reason)},
                      {"requested_by", event.requested_by},
                      {"global_step", event.global_step}};
  if (event.state == CheckpointState::kSaved) {
    json["path"] = event.path;
    json["bytes"] = event.bytes;
    json["duration_ns"] = event.duration_ns;
  }
  if (event.state == CheckpointState::kRefused) json["error"] = mask_secrets(event.error);
  return dump_json(json);
}

Result<std::optional<CheckpointEvent>> decode_checkpoint_event(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  const auto state = state_of(type);
  if (!state) return std::optional<CheckpointEvent>();
  CheckpointEvent event;
  event.state = *state;
  TRAINWARDEN_ASSIGN_OR_RETURN(event.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.reason, string_field(json, "reason"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.global_step, int_field(json, "global_step", -1));
  if (*state == CheckpointState::kSaved) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.path, string_field(json, "path"));
    TRAINWARDEN_ASSIGN_OR_RETURN(event.bytes, int_field(json, "bytes", 0));
    TRAINWARDEN_ASSIGN_OR_RETURN(event.duration_ns, int_field(json, "duration_ns", 0));
  }
  if (*state == CheckpointState::kRefused) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.error, string_field(json, "error"));
  }
  return std::optional(std::move(event));
}

}  // namespace trainwarden::format
