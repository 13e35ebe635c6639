// Settings: where buckets are reached, and how. As the tools of AWS have them, so that who has set those up need not do
// so again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/environment.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

struct S3Settings {
  std::string region;        // that of requests' signatures
  std::string endpoint;      // "https://HOST" or with a port; no '/' at its end
  bool path_style = false;   // ENDPOINT/BUCKET/KEY; else BUCKET.ENDPOINT/KEY
  bool is_encrypted = true;  // the endpoint has https
  std::string ca_file;       // PEM; empty: what the system trusts
  int max_attempts = 5;
  std::uint64_t max_bytes_per_second = 0;  // of each connection; 0: no limit
  std::string scheme = "s3";               // of its addresses, as users write and see them
};

// Of the variables that AWS's tools have, then of the profile:
//
//   endpoint     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; endpoint_url; else Amazon's of the region
//   region       AWS_REGION, AWS_DEFAULT_REGION; region; else us-east-1
//   path_style   s3.addressing_style: path, virtual; else path where the endpoint is not Amazon's, or the bucket's name
//                has a '.', which certificates do not have
//   ca_file      AWS_CA_BUNDLE; ca_bundle
//   attempts     AWS_MAX_ATTEMPTS; max_attempts
//   speed        s3.max_bandwidth: "10MB/s"
//
// kInvalidArgument for a value that is none; the message names the variable.
Result<S3Settings> read_s3_settings(const Environment& environment, const std::string& bucket);

// Where STS is, the service that gives credentials of roles: AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL; endpoint_url; else
// Amazon's of the region. kInvalidArgument as above.
struct StsSettings {
  std::string endpoint;
  std::string ca_file;
};
Result<StsSettings> read_sts_settings(const Environment& environment);

// "10MB/s", "512KB/s", "1GB", "65536": bytes a second, with units of powers of 1,024, as AWS's tools have it. Nothing
// when it is none.
std::optional<std::uint64_t> parse_speed(std::string_view text);

}  // namespace trainwarden::storage
