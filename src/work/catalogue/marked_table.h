// What the tables of things that lie in a folder have in common: a place, a name, and a mark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/database.h"
#include "work/catalogue/folder_changes.h"

namespace trainwarden::catalogue {

// As they were when they were read. `table` is the name of one of ours.
Result<KnownMarks> known_marks(Database& database, const char* table, std::int64_t place);

// Removes their rows. Within the caller's transaction, if there is one.
Status forget(Database& database, const char* table, std::int64_t place, const std::vector<std::string>& names);
// The same in a transaction of its own, with what has been measured of them.
Status forget_measured(Database& database, const char* table, std::int64_t place,
                       const std::vector<std::string>& names);

}  // namespace trainwarden::catalogue
