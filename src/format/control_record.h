// Control records: requests to the training process, put as files into the run's control/ folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

inline constexpr const char* kControlFolder = "control";

struct StopRequest {
  std::string key;           // idempotency key; the file is control/stop-<key>.json
  std::string reason;        // "VanishingGradient fired at step 120: ..."
  std::string requested_by;  // "watch-0", "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const StopRequest&, const StopRequest&) = default;
};

std::string stop_request_path(std::string_view key);
bool is_stop_request_file(std::string_view file_name);
std::string encode_stop_request(const StopRequest& request);
Result<StopRequest> decode_stop_request(std::string_view json);

}  // namespace trainwarden::format
