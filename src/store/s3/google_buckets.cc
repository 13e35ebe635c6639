#include "store/s3/google_buckets.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/bucket_variables.h"

namespace trainwarden::storage {
namespace {

constexpr const char* kGoogleEndpoint = "https://storage.googleapis.com";
// Google takes any; this one is what its own examples have.
constexpr const char* kGoogleRegion = "auto";
constexpr const char* kGoogleProfile = "gs";

constexpr std::array<std::string_view, 6> kOfBoth = {variable::kAwsCredentialsFile, variable::kAwsConfigFile,
                                                     variable::kAwsCaBundle,        variable::kAwsMaxAttempts,
                                                     variable::kUnsigned,           "HOME"};

}  // namespace

Environment google_environment(Environment environment) {
  return [environment = std::move(environment)](const char* name) -> const char* {
    const std::string_view wanted = name;
    if (wanted == variable::kAwsKeyId) return environment(variable::kGsKeyId);
    if (wanted == variable::kAwsSecret) return environment(variable::kGsSecret);
    if (wanted == variable::kAwsProfile) return kGoogleProfile;
    if (wanted == variable::kAwsRegion) return kGoogleRegion;
    if (wanted == variable::kAwsNoMetadata) return "true";
    if (wanted == variable::kAwsS3Endpoint) {
      const char* const set = environment(variable::kGsEndpoint);
      return set != nullptr && *set != '\0' ? set : kGoogleEndpoint;
    }
    return std::find(kOfBoth.begin(), kOfBoth.end(), wanted) != kOfBoth.end() ? environment(name) : nullptr;
  };
}

}  // namespace trainwarden::storage
