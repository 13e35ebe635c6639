// The runs that lie in a folder.
#pragma once

#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// Of ours, or one that smdebug wrote.
bool is_run(const storage::Location& location);
// The same, with why not: kNotFound, or what keeps us from seeing whether there is one.
Status check_run(const storage::Location& location);

// What may be runs in `folder`: its folders, and links, which are the user's own. Errors as list_runs().
Result<std::vector<storage::Entry>> list_folders(const storage::Location& folder);

// The names of the runs in `folder`, sorted. kNotFound when there is no such folder; the message says how to make one.
// Others when it cannot be seen.
Result<std::vector<std::string>> list_runs(const storage::Location& folder);

}  // namespace trainwarden::trial
