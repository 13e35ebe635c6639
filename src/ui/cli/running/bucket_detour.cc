#include "ui/cli/running/bucket_detour.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "read/transfer/output_claim.h"
#include "store/copy/bucket_end.h"
#include "store/s3/s3_storage.h"
#include "store/storage/bucket_folder.h"
#include "ui/cli/running/tree_copy.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kDetourGlance{50};

std::string without_slashes(std::string address) {
  while (address.ends_with('/')) address.pop_back();
  return address;
}

// "tensors" of "s3://bucket/job/tensors/".
std::string last_part(const std::string& address) {
  const std::string place = without_slashes(address);
  return place.substr(place.rfind('/') + 1);
}

Result<bool> is_taken(const storage::BucketPlace& place, BucketDetour::Kind kind) {
  if (kind == BucketDetour::Kind::kFile) return copy::is_file_in_bucket(*place.client, place.prefix);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto page, place.client->list(place.prefix + "/", "", "", "", 1));
  return !page.objects.empty();
}

// Before the work, which may take long.
Status check_target(const std::string& address, BucketDetour::Kind kind, bool force) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::BucketPlace place, storage::reach_bucket(without_slashes(address)));
  if (place.prefix.empty() || (kind == BucketDetour::Kind::kFile && address.ends_with('/'))) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected the name of what is written too, as in s3://BUCKET/{}", printable(address),
                              kind == BucketDetour::Kind::kFile ? "PREFIX/FILE" : "FOLDER"));
  }
  TRAINWARDEN_RETURN_IF_ERROR(place.client->check_credentials());
  if (force) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool taken, is_taken(place, kind));
  if (!taken) return {};
  return Status(Code::kAlreadyExists,
                fmt::format("something is at {} already; --force writes there nevertheless", printable(address)));
}

// The folder that stands for its bucket; kUnimplemented when a network leads to it.
Result<fs::path> here(const std::string& address) {
  return storage::is_bucket_address(address) ? storage::folder_of_bucket(address) : fs::path(address);
}

}  // namespace

Result<BucketDetour> BucketDetour::make(const std::string& address, const std::string& name) {
  if (name.empty() || name == "." || name == "..") {
    return Status(Code::kInvalidArgument, fmt::format("{}: expected s3://BUCKET/KEY", printable(address)));
  }
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "trainwarden-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return Status(Code::kPermissionDenied,
                  fmt::format("cannot make a folder in {} for what is on its way; TMPDIR names another place",
                              printable(fs::path(folder).parent_path().string())));
  }
  BucketDetour made(address, fs::path(folder) / name);
  made.folder_ = folder;
  return made;
}

Result<BucketDetour> BucketDetour::to(const std::string& address, Kind kind, bool force) {
  auto local = here(address);
  if (local.ok()) return BucketDetour(address, *std::move(local));
  if (local.status().code() != Code::kUnimplemented) return local.status();
  TRAINWARDEN_RETURN_IF_ERROR(check_target(address, kind, force));
  return make(address, last_part(address));
}

Result<BucketDetour> BucketDetour::from(const std::string& address) {
  auto local = here(address);
  if (local.ok()) return BucketDetour(address, *std::move(local));
  if (local.status().code() != Code::kUnimplemented) return local.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(BucketDetour made, make(address, last_part(address)));
  TRAINWARDEN_RETURN_IF_ERROR(copy_whole({.from = address, .to = made.local_.string()}));
  return made;
}

BucketDetour::BucketDetour(BucketDetour&& other) noexcept
    : address_(std::move(other.address_)),
      local_(std::move(other.local_)),
      folder_(std::exchange(other.folder_, fs::path())) {}

BucketDetour::~BucketDetour() {
  remove();
}

void BucketDetour::remove() const {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Status BucketDetour::send() const {
  if (folder_.empty()) return {};
  std::error_code ignored;
  // They are for an export that goes on, which one in a bucket never does.
  for (const char* const claim : {transfer::kClaimFile, transfer::kClaimLock}) fs::remove(local_ / claim, ignored);
  return copy_whole(
      {.from = local_.string(), .to = without_slashes(address_), .is_sync = fs::is_directory(local_, ignored)});
}

void BucketDetour::attend(const std::function<void()>& act) const {
  if (folder_.empty()) return act();
  process::SignalRelay relay;  // before the thread
  std::atomic<bool> has_ended = false;
  std::jthread thread([&] {
    act();
    has_ended = true;
  });
  while (!has_ended) {
    const auto signal = relay.wait_for_end(kDetourGlance);
    if (!signal) continue;
    remove();
    std::_Exit(128 + signal->number);  // `act` cannot be asked to end
  }
}

}  // namespace trainwarden::cli
