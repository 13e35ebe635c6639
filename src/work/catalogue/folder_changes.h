// What has changed in a folder since it was last read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::catalogue {

// What a file or folder looks like: another one under its name, or a change of it, changes this. 0 when it has changed
// in the last seconds: it may change again without looking different, so nobody can say yet that it is read.
std::int64_t mark_of(const storage::FileInfo& info);

// By name, as they were when they were read. A mark of 0 says: read it again in any case.
using KnownMarks = std::map<std::string, std::int64_t>;

struct MarkedName {
  std::string name;
  std::int64_t mark = 0;
};

struct FolderChanges {
  std::vector<MarkedName> changed;  // and new ones
  std::vector<std::string> gone;
};
FolderChanges compare(const std::vector<MarkedName>& present, KnownMarks known);
FolderChanges compare(const std::vector<storage::Entry>& entries, KnownMarks known);

// The entries of a folder that are of this kind; none when there is no such folder.
Result<std::vector<storage::Entry>> entries_of(const storage::Storage& storage, const std::string& folder,
                                               storage::FileInfo::Kind kind);

}  // namespace trainwarden::catalogue
