// AttemptContainer: the containers that an attempt of a job runs in, one a rank.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

// Containers carry this label with the attempt's key (attempt_setup.h), by which they are found.
inline constexpr const char* kContainerLabel = "trainwarden.attempt";

struct AttemptContainer {
  std::string engine;          // "podman", "apptainer"
  std::string image;           // as the job names it
  std::string digest;          // "sha256:..." of what ran; empty: the engine does not say
  bool limits_memory = false;  // the engine was told to
  friend bool operator==(const AttemptContainer&, const AttemptContainer&) = default;
};

std::string encode_container(const AttemptContainer& container);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<AttemptContainer> decode_container(std::string_view text, std::string_view what);

// Kills and removes the containers of the attempt that are still there, in half a minute at most. Those of apptainer
// are processes like any other. Errors: as the engine says.
Status remove_containers(const AttemptContainer& container, const std::string& key);

}  // namespace trainwarden::jobs
