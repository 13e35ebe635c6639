// Profile events: what a worker says of a request to record operator calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

enum class ProfileState : std::uint8_t {
  kAccepted,  // the steps are known; they may not have come yet
  kFinished,  // they are recorded
  kRefused,   // nothing was recorded, and nothing will be
};

// {"type": "profile_accepted" | "profile_finished" | "profile_refused", ...}. Each worker answers for itself.
struct ProfileEvent {
  ProfileState state = ProfileState::kAccepted;
  std::string key;                // of the request
  std::int64_t first_step = -1;   // global; of this worker, which may have been beyond the one that was asked for
  std::int64_t steps = 0;         // finished: that were recorded
  std::int64_t global_step = -1;  // at which this is said
  std::int64_t calls = 0;         // finished: that were recorded. 0: nobody listens to a framework here
  std::string error;              // refused: why
  friend bool operator==(const ProfileEvent&, const ProfileEvent&) = default;
};

std::string encode_profile_event(const ProfileEvent& event);
// None when the event is of another type.
Result<std::optional<ProfileEvent>> decode_profile_event(std::string_view json);

}  // namespace trainwarden::format
