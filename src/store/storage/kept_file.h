// KeptFile: a file of LocalStorage that stays open from one call to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/owned_descriptor.h"
#include "store/storage/beneath.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// One thread at a time. A program may have closed its descriptor (core/base/owned_descriptor.h): the file is opened
// again then, if it still lies there.
class KeptFile {
 public:
  // `path` is beneath the root, `flags` are those of open(2) for another time.
  KeptFile(FileDescriptor opened, const Beneath& beneath, std::string path, int flags);

  bool is_open() const { return file_.is_open(); }
  // For the one call of the system that comes next. `bytes`: that the file must have when it is opened again. Where it
  // cannot be, kFailedPrecondition, or what Beneath::open() says.
  Result<int> number(std::optional<std::uint64_t> bytes = std::nullopt);
  Status close();  // idempotent
  const Beneath& beneath() const { return beneath_; }
  const std::string& path() const { return path_; }  // beneath the root

 private:
  Result<OwnedDescriptor> open_again(std::optional<std::uint64_t> bytes) const;
  std::string described() const { return beneath_.describe(path_); }

  OwnedDescriptor file_;
  const Beneath beneath_;
  const std::string path_;
  const int flags_;
};

}  // namespace trainwarden::storage
