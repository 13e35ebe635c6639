#include "data/format/profile_events.h"

#include "core/base/secret_mask.h"
#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kProfileAccepted = "profile_accepted";
constexpr const char* kProfileFinished = "profile_finished";
constexpr const char* kProfileRefused = "profile_refused";

const char* profile_type_of(ProfileState state) {
  switch (state) {
    case ProfileState::kAccepted: return kProfileAccepted;
    case ProfileState::kFinished: return kProfileFinished;
    case ProfileState::kRefused: return kProfileRefused;
  }
  return kProfileRefused;
}

std::optional<ProfileState> profile_state_of(std::string_view type) {
  if (type == kProfileAccepted) return ProfileState::kAccepted;
  if (type == kProfileFinished) return ProfileState::kFinished;
  if (type == kProfileRefused) return ProfileState::kRefused;
  return std::nullopt;
}

}  // namespace

std::string encode_profile_event(const ProfileEvent& event) {
  OrderedJson json = {{"type", profile_type_of(event.state)},
                      {"key", event.key},
                      {"first_step", event.first_step},
                      {"steps", event.steps},
                      {"global_step", event.global_step}};
  if (event.state == ProfileState::kFinished) json["calls"] = event.calls;
  if (event.state == ProfileState::kRefused) json["error"] = mask_secrets(event.error);
  return dump_json(json);
}

Result<std::optional<ProfileEvent>> decode_profile_event(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  const auto state = profile_state_of(type);
  if (!state) return std::optional<ProfileEvent>();
  ProfileEvent event;
  event.state = *state;
  TRAINWARDEN_ASSIGN_OR_RETURN(event.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.first_step, int_field(json, "first_step", -1));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.steps, int_field(json, "steps", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.global_step, int_field(json, "global_step", -1));
  if (*state == ProfileState::kFinished) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.calls, int_field(json, "calls", 0));
  }
  if (*state == ProfileState::kRefused) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.error, string_field(json, "error"));
  }
  return std::optional(std::move(event));
}

}  // namespace trainwarden::format
