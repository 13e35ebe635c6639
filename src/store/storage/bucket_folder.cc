#include "store/storage/bucket_folder.h"

#include <string>

#include <fmt/format.h>

#include "core/base/folder_variables.h"
#include "core/base/text.h"

namespace trainwarden::storage {

namespace fs = std::filesystem;

Result<fs::path> folder_of_bucket(std::string_view address, const Environment& environment) {
  const fs::path within(std::string(path_in_buckets(address)));
  bool climbs = within.is_absolute() || within.empty();
  for (const fs::path& part : within) climbs = climbs || part == ".." || part == ".";
  if (climbs) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected s3://BUCKET/KEY, without \".\" and \"..\"", printable(address)));
  }
  const char* const buckets = environment(variable::kBuckets);
  if (buckets == nullptr || *buckets == '\0') {
    return Status(
        Code::kUnimplemented,
        fmt::format(
            "{}: only the program trainwarden reaches buckets; set {} to a folder that holds a folder for each of them",
            printable(address), variable::kBuckets));
  }
  return (fs::absolute(buckets) / within).lexically_normal();
}

}  // namespace trainwarden::storage
