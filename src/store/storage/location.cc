#include "store/storage/location.h"

#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/storage/bucket_folder.h"
#include "store/storage/local_storage.h"
#include "store/storage/other_stores.h"
#include "store/storage/prefix_storage.h"
#include "store/storage/unreachable_storage.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

// A kind of storage that addresses can name: "SCHEME://REST". `open` gets the rest.
struct Backend {
  std::string_view scheme;
  bool is_folder;
  std::shared_ptr<Storage> (*open)(const std::string& rest);
};

std::shared_ptr<Storage> open_folder_at(const std::string& path) {
  return open_local_storage(path);
}

constexpr std::array kBackends = {
    Backend{"file", true, open_folder_at},
};

constexpr std::string_view kSchemeEnd = "://";

struct Address {
  std::string scheme;  // empty: a folder
  std::string rest;
};

// A scheme has two letters or more: "c://" is a folder with an odd name.
Address parts_of(const std::string& address) {
  const std::size_t end = address.find(kSchemeEnd);
  if (end == std::string::npos || end < 2) return {"", address};
  if (address.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+.-") != end) return {"", address};
  return {address.substr(0, end), address.substr(end + kSchemeEnd.size())};
}

const Backend* backend_of(std::string_view scheme) {
  for (const Backend& backend : kBackends) {
    if (backend.scheme == scheme) return &backend;
  }
  return nullptr;
}

Status no_backend(const std::string& scheme, const std::string& address) {
  std::vector<std::string> known;
  for (const Backend& backend : kBackends) known.push_back(fmt::format("{}://", backend.scheme));
  return Status(Code::kUnimplemented, fmt::format("no storage for {}: expected a folder, or an address that begins "
                                                  "with {}{}",
                                                  address, fmt::join(known, " or "), advice_for_scheme(scheme)));
}

// Of a folder: two addresses may lie in one, "runs/first/" and "runs/../runs/first".
fs::path absolute_of(const fs::path& path) {
  std::error_code ignored;
  fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

// Set once, before there are threads.
OpenBucket open_bucket = nullptr;

}  // namespace

void set_bucket_storage(OpenBucket open) {
  open_bucket = open;
}

bool reaches_buckets() {
  return open_bucket != nullptr;
}

Location::Location(const fs::path& address) : address_(address.string()) {
  if (is_bucket_address(address_)) {
    const Result<fs::path> folder = folder_of_bucket(address_);
    is_folder_ = folder.ok();
    if (is_folder_) {
      address_ = folder->string();
      storage_ = open_folder_at(address_);
    } else if (open_bucket != nullptr && folder.status().code() == Code::kUnimplemented) {
      storage_ = open_bucket(address_);
    } else {
      storage_ = create_unreachable_storage(folder.status());
    }
    return;
  }
  const Address parts = parts_of(address_);
  const Backend* backend = backend_of(parts.scheme.empty() ? "file" : parts.scheme);
  is_folder_ = backend != nullptr && backend->is_folder;
  if (is_folder_) address_ = parts.rest;
  storage_ =
      backend != nullptr ? backend->open(parts.rest) : create_unreachable_storage(no_backend(parts.scheme, address_));
}

std::optional<fs::path> Location::folder() const {
  return is_folder_ ? std::optional<fs::path>(address_) : std::nullopt;
}

Location Location::absolute() const {
  return is_folder_ ? Location(absolute_of(address_)) : *this;
}

std::string Location::name() const {
  if (is_folder_) return absolute_of(address_).filename().string();
  const std::string_view address(address_);
  return fs::path(address.substr(0, address.find_last_not_of('/') + 1)).filename().string();
}

Location Location::child(std::string_view name) const {
  if (is_folder_) return Location(fs::path(address_) / name);
  return beneath(std::string(name));
}

Location Location::beneath(const std::string& path) const {
  const std::string address = is_folder_ ? (fs::path(address_) / path).string() : fmt::format("{}/{}", address_, path);
  Location inside(create_prefix_storage(storage_, path), address);
  inside.is_folder_ = is_folder_;
  return inside;
}

}  // namespace trainwarden::storage
