#include "store/storage/other_stores.h"

#include <algorithm>
#include <array>

namespace trainwarden::storage {
namespace {

constexpr std::array<std::string_view, 6> kAzureSchemes = {"az", "abfs", "abfss", "wasb", "wasbs", "azure"};
constexpr std::array<std::string_view, 3> kWebSchemes = {"http", "https", "ftp"};

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& schemes, std::string_view scheme) {
  return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
}

}  // namespace

std::string advice_for_scheme(std::string_view scheme) {
  if (scheme == "gcs") return "; write gs://BUCKET/KEY";
  if (is_one_of(kAzureSchemes, scheme)) {
    return "; Azure's storage has no face of S3: copy it to this machine with azcopy, or mount it with blobfuse2, and "
           "name the folder";
  }
  if (scheme == "s3a" || scheme == "s3n") return "; write s3://BUCKET/KEY";
  if (is_one_of(kWebSchemes, scheme)) {
    return "; of an address of Amazon's, https://BUCKET.s3.REGION.amazonaws.com/KEY, write s3://BUCKET/KEY; of one of "
           "Azure's, https://ACCOUNT.blob.core.windows.net/..., copy what is there to this machine with azcopy; "
           "everything else is to be downloaded first";
  }
  return "";
}

}  // namespace trainwarden::storage
