// RequestId: which request, of those that lie as files in a run's control/ folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainwarden::format {

enum class RequestKind : std::uint8_t { kStop, kCapture, kBlackBox, kCheckpoint, kProfile, kExamine, kDelivery };

// Requests of several kinds may have the same key.
struct RequestId {
  RequestKind kind = RequestKind::kStop;
  std::string key;
};

// The file of the request in the run: "control/stop-<key>.json".
std::string path_of(const RequestId& request);
// Is a file of this name in control/ a request of this kind?
bool is_request_file(RequestKind kind, std::string_view file_name);

}  // namespace trainwarden::format
