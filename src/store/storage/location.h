// Location: where a run, or a folder of runs, lies. The address and the storage that reaches it travel together, so
// that nobody has to know which kind of storage it is.
#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "store/storage/storage.h"

namespace trainwarden::storage {

// Cheap to copy: copies share the storage. All methods may be called from many threads at once.
class Location {
 public:
  // The address as a user writes it: a folder of this machine, or "SCHEME://..." for a storage of another kind.
  // Nothing is looked at. Where no storage has the scheme, each call of storage() fails with kUnimplemented and says
  // which there are. Implicit: an address is a location.
  Location(const std::filesystem::path& address);
  Location(const std::string& address) : Location(std::filesystem::path(address)) {}
  Location(const char* address) : Location(std::filesystem::path(address)) {}
  // What lies in this storage, whose root is what `address` names.
  template <std::derived_from<Storage> AnyStorage>
  Location(std::shared_ptr<AnyStorage> storage, std::string address = "")
      : address_(std::move(address)), storage_(std::move(storage)) {}

  Storage& storage() const& { return *storage_; }
  Storage& storage() && = delete;  // it would be gone with the location
  const std::shared_ptr<Storage>& shared_storage() const { return storage_; }

  const std::string& address() const { return address_; }  // as it was given
  std::filesystem::path path() const { return address_; }  // the same, for who shows paths
  std::optional<std::filesystem::path> folder() const;     // of this machine; nothing in other storages
  Location absolute() const;  // of a folder: with its whole path, so that it stays where the process goes elsewhere
  // Its own: the last part of its address. Of "." the name that this folder has.
  std::string name() const;

  // What lies in it under this name, which has no slash; of a folder of this machine also what a link there leads to:
  // the folder is the user's own.
  Location child(std::string_view name) const;
  // A folder inside, "blackbox/step-000123". No link on the way is followed.
  Location beneath(const std::string& path) const;

 private:
  std::string address_;
  bool is_folder_ = false;  // of this machine
  std::shared_ptr<Storage> storage_;
};

// What opens "s3://..." and "gs://..." where no folder stands for buckets (bucket_folder.h). For the program, which can
// reach them; before any location is made.
using OpenBucket = std::shared_ptr<Storage> (*)(const std::string& address);
void set_bucket_storage(OpenBucket open);

}  // namespace trainwarden::storage
