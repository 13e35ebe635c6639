// DeliveryRequest: what is to become of dead letters, put as a file into the run's control/ folder for whoever delivers
// the run's events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

struct DeliveryRequest {
  enum class Kind : std::uint8_t {
    kRedrive,  // try them again
    kDrop,     // nobody wants them any more
  };
  std::string key;  // [a-z0-9-]; the file is control/delivery-<key>.json
  Kind kind = Kind::kRedrive;
  std::string subscription;  // its name; empty: each
  std::uint64_t seq = 0;     // of the event; 0: each dead letter that there is when the request is taken up
  std::string requested_by;  // "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const DeliveryRequest&, const DeliveryRequest&) = default;
};

std::string delivery_request_path(std::string_view key);
bool is_delivery_request_file(std::string_view file_name);
std::string encode_delivery_request(const DeliveryRequest& request);
Result<DeliveryRequest> decode_delivery_request(std::string_view json);  // kDataLoss

}  // namespace trainwarden::format
