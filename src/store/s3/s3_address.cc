#include "store/s3/s3_address.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/bucket_folder.h"
#include "store/storage/path_rules.h"

namespace trainwarden::storage {
namespace {

// Upper case and '_' are of the first buckets, and of other stores.
bool is_bucket_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return name.size() >= 3 && name.size() <= 255 && is_letter(name.front()) && is_letter(name.back()) &&
         name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || c == '-' || c == '.' || c == '_';
         });
}

}  // namespace

Result<S3Address> parse_s3_address(std::string_view typed) {
  const std::string_view rest = path_in_buckets(typed);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  S3Address address{.scheme = std::string(typed.substr(0, typed.find(':'))),
                    .bucket = std::string(rest.substr(0, slash)),
                    .prefix = ""};
  if (!is_bucket_name(address.bucket)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected {}://BUCKET/PREFIX with a bucket's name of 3 letters or more, found \"{}\"",
                              printable(typed), address.scheme, printable(address.bucket)));
  }
  std::string_view prefix = rest.substr(std::min(slash + 1, rest.size()));
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  TRAINWARDEN_RETURN_IF_ERROR(check_path(prefix).with_context(printable(typed)));
  address.prefix = prefix;
  return address;
}

}  // namespace trainwarden::storage
