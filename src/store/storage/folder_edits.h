// FolderEdits: takes away and replaces what lies in a folder of this machine. A Storage only ever adds, and who keeps
// runs within their limits is the one who needs more (src/read/retention).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// Paths and errors as in storage.h. No link beneath the folder is followed. One thread at a time.
class FolderEdits {
 public:
  virtual ~FolderEdits() = default;
  // Both in the same folder. kAlreadyExists when `to` is there. Once it returns ok, it holds after a power loss.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // The file `from` takes the place of the file `to` in the same folder, and its times; lasting in the same way.
  virtual Status replace_file(const std::string& from, const std::string& to) = 0;
  virtual Status remove_file(const std::string& path) = 0;    // of a link: itself, and not what it leads to
  virtual Status remove_folder(const std::string& path) = 0;  // which is empty
};

std::unique_ptr<FolderEdits> open_local_edits(const std::filesystem::path& root);

// The folder with all that is in it, links as such; `first` of it before all else, when it is there. What is gone
// already is no error, so that who was interrupted calls it again. kFailedPrecondition when folders lie in folders
// deeper than any run's.
Status remove_tree(const Storage& storage, FolderEdits& changes, const std::string& path, const std::string& first);

// A run that is being removed has such a name: nobody takes it for a run any more.
std::string name_while_removed(const std::string& identity);  // ".removed-0123..."
bool is_name_while_removed(const std::string& name);

}  // namespace trainwarden::storage
