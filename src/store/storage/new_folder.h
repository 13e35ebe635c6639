// NewFolder: a folder of this machine that has its name once all is in it, and not before.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// Until finish() it is called "<name>.unfinished", which a process that is killed leaves behind: whoever makes the
// folder again removes that. Two processes do not make the same folder: a lock inside says who does.
inline constexpr const char* kUnfinishedEnding = ".unfinished";
inline constexpr const char* kUnfinishedLock = "unfinished.lock";

class NewFolder {
 public:
  // kAlreadyExists when something has the name, or when another process is making it; kFailedPrecondition when
  // something has the unfinished name that is none of ours. kInvalidArgument for an address of another storage,
  // "s3://...".
  static Result<std::unique_ptr<NewFolder>> begin(const std::filesystem::path& path);
  ~NewFolder();  // without finish() nothing stays
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // Of the unfinished folder.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  const std::filesystem::path& path() const { return path_; }

  // Brings the folders to the medium (the files are their writers' affair) and gives it its name. kAlreadyExists when
  // something has it by now.
  Status finish();

 private:
  explicit NewFolder(const std::filesystem::path& path);
  Status prepare();

  const std::filesystem::path path_;
  const std::filesystem::path unfinished_;
  std::shared_ptr<Storage> storage_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace trainwarden::storage
