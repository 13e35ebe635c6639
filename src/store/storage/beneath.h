// Beneath: opens what lies beneath a folder, and never what a link there leads to.
//
// A run's folder is untrusted: whoever may write into it can put a symbolic link where a file is expected. The folder
// itself is the user's own word and may be reached through links.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/base/file_descriptor.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// From any thread. The root is looked up at each call: it may appear, go, and come again.
class Beneath {
 public:
  enum class Way {
    kAtOnce,   // openat2 of Linux 5.6; by parts where the system has none, or does not let us
    kByParts,  // one openat for each part of the path
  };
  explicit Beneath(std::filesystem::path root, Way way = Way::kAtOnce);

  // As open(2) with O_CLOEXEC; `path` is checked by check_path() before, "" is the root. Errors as in storage.h;
  // kPermissionDenied for a link. `action` is for the message: "open".
  Result<FileDescriptor> open(const std::string& path, int flags, std::string_view action, mode_t mode = 0) const;
  // With its parents. Folders that were not there are on the medium, name and all, when it returns.
  Status create_folder(const std::string& path) const;

  std::string describe(const std::string& path) const;  // the full path, for messages

 private:
  FileDescriptor open_root() const;
  int try_open(const FileDescriptor& root, const std::string& path, int flags, mode_t mode) const;
  Status create_part(const FileDescriptor& parent, const std::string& name, const std::string& path,
                     FileDescriptor& made) const;
  Status error(int error_number, std::string_view action, const std::string& path) const;

  std::filesystem::path root_;
  Way way_;
};

// Makes the names in a folder last. `path` is for the message.
Status sync_folder(const FileDescriptor& folder, const std::string& path);

}  // namespace trainwarden::storage
