#include "store/copy/copy_place.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/copy/bucket_end.h"
#include "store/copy/local_end.h"
#include "store/s3/s3_storage.h"
#include "store/storage/bucket_folder.h"
#include "store/storage/local_place.h"
#include "store/storage/other_stores.h"

namespace trainwarden::copy {
namespace {

namespace fs = std::filesystem;
using storage::LocalPlace;

constexpr std::string_view kFileScheme = "file://";

// An address, taken apart.
struct Place {
  std::optional<storage::BucketPlace> bucket;  // nothing: of this machine
  LocalPlace local;
  bool ends_with_slash = false;

  std::string name() const {
    const std::string& prefix = bucket->prefix;
    return prefix.substr(prefix.rfind('/') + 1);
  }
};

Status other_store(const std::string& address, const std::string& scheme) {
  return Status(Code::kUnimplemented,
                fmt::format("{}: expected a path, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, found {}://{}",
                            printable(address), printable(scheme), storage::advice_for_scheme(scheme)));
}

// "az" of "az://..."; empty: it is a path.
std::string scheme_of(const std::string& address) {
  const std::size_t end = address.find("://");
  if (end == std::string::npos || end < 2) return "";
  const bool is_scheme = address.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+.-") == end;
  return is_scheme ? address.substr(0, end) : "";
}

Result<Place> local_place(const fs::path& path, bool ends_with_slash) {
  TRAINWARDEN_ASSIGN_OR_RETURN(LocalPlace local, storage::find_local_place(path));
  return Place{.bucket = std::nullopt, .local = std::move(local), .ends_with_slash = ends_with_slash};
}

Result<Place> place_of(const std::string& address, const CopyOrder& order, const Environment& environment,
                       const std::stop_token& stop) {
  if (address.empty()) return Status(Code::kInvalidArgument, "expected a path or s3://BUCKET/PREFIX, found nothing");
  const bool ends_with_slash = address.ends_with('/');
  const std::string scheme = scheme_of(address);
  if (scheme.empty()) return local_place(address, ends_with_slash);
  if (scheme == "file") return local_place(address.substr(kFileScheme.size()), ends_with_slash);
  if (!storage::is_bucket_address(address)) return other_store(address, scheme);
  const auto folder = storage::folder_of_bucket(address, environment);
  if (folder.ok()) return local_place(*folder, ends_with_slash);
  if (folder.status().code() != Code::kUnimplemented) return folder.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(storage::BucketPlace bucket,
                               storage::reach_bucket(address, environment, stop, order.max_bytes_per_second));
  TRAINWARDEN_RETURN_IF_ERROR(bucket.client->check_credentials());
  return Place{.bucket = std::move(bucket), .local = {}, .ends_with_slash = ends_with_slash};
}

// Is the source a file? What is a folder but for its name is one where that was said.
Result<bool> is_file(const Place& from, const CopyOrder& order) {
  if (from.bucket) {
    if (order.is_sync || from.ends_with_slash || from.bucket->prefix.empty()) return false;
    return is_file_in_bucket(*from.bucket->client, from.bucket->prefix);
  }
  switch (from.local.kind) {
    case LocalPlace::Kind::kFolder: return false;
    case LocalPlace::Kind::kFile:
      if (!order.is_sync && !from.ends_with_slash) return true;
      return Status(Code::kInvalidArgument, fmt::format("{} is a file; expected a folder", printable(order.from)));
    case LocalPlace::Kind::kOther:
      return Status(Code::kInvalidArgument, fmt::format("{} is neither a file nor a folder", printable(order.from)));
    case LocalPlace::Kind::kNothing: break;
  }
  return Status(Code::kNotFound, fmt::format("nothing is at {}", printable(order.from)));
}

// The name follows where the target is a place for things.
void add_name(const Place& from, Place& to, const CopyOrder& order, bool is_file) {
  if (order.is_sync) return;
  const bool is_folder_there = !to.bucket && to.local.kind == LocalPlace::Kind::kFolder;
  const bool is_place = to.ends_with_slash || (is_file && (to.bucket ? to.bucket->prefix.empty() : is_folder_there));
  const std::string name = from.bucket ? from.name() : from.local.path.filename().string();
  if (!is_place || name.empty()) return;
  if (to.bucket) {
    to.bucket->prefix = to.bucket->prefix.empty() ? name : fmt::format("{}/{}", to.bucket->prefix, name);
  } else {
    to.local.path /= name;
  }
}

std::string address_of(const Place& place) {
  if (!place.bucket) return place.local.path.string();
  return place.bucket->client->address_of(place.bucket->prefix);
}

bool is_within(std::string inner, std::string outer) {
  if (!outer.ends_with('/')) outer += '/';
  return fmt::format("{}/", inner).starts_with(outer);
}

Status check_apart(const Place& from, const Place& to, bool is_file) {
  if (from.bucket.has_value() != to.bucket.has_value()) return {};
  const std::string a = address_of(from), b = address_of(to);
  const bool is_elsewhere =
      from.bucket && from.bucket->client->settings().endpoint != to.bucket->client->settings().endpoint;
  if (is_elsewhere || (a != b && (is_file || (!is_within(a, b) && !is_within(b, a))))) return {};
  return Status(Code::kInvalidArgument, fmt::format("expected two places apart, found {} and {}, one of which is or "
                                                    "lies in the other",
                                                    printable(a), printable(b)));
}

std::shared_ptr<CopyEnd> end_of(const Place& place, EndKind kind) {
  if (place.bucket) return create_bucket_end(place.bucket->client, place.bucket->prefix, kind);
  return create_local_end(place.local.path, kind);
}

}  // namespace

Result<CopyEnds> find_ends(const CopyOrder& order, const Environment& environment, const std::stop_token& stop) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Place from, place_of(order.from, order, environment, stop));
  TRAINWARDEN_ASSIGN_OR_RETURN(Place to, place_of(order.to, order, environment, stop));
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool is_single, is_file(from, order));
  add_name(from, to, order, is_single);
  if (!to.bucket) {
    TRAINWARDEN_ASSIGN_OR_RETURN(to.local, storage::find_local_place(to.local.path));
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_apart(from, to, is_single));
  const LocalPlace::Kind kind = to.bucket ? LocalPlace::Kind::kNothing : to.local.kind;
  const bool is_taken = is_single ? kind == LocalPlace::Kind::kFolder : kind == LocalPlace::Kind::kFile;
  if (is_taken || kind == LocalPlace::Kind::kOther || (is_single && to.bucket && to.bucket->prefix.empty())) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected a place for a {}, found {}", printable(address_of(to)),
                              is_single ? "file" : "folder", is_single ? "a folder" : "a file"));
  }
  const EndKind ends = is_single ? EndKind::kFile : EndKind::kFolder;
  return CopyEnds{.from = end_of(from, ends),
                  .to = end_of(to, ends),
                  .from_address = address_of(from),
                  .to_address = address_of(to),
                  .is_file = is_single};
}

}  // namespace trainwarden::copy
