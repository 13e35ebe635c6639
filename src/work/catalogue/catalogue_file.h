// The file of the catalogue: found, made, and thrown away when it is damaged.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/database.h"

namespace trainwarden::catalogue {

struct CatalogueFile {
  Database database;
  std::vector<std::string> notes;  // for people: what was found and done
};

// Whether the folder, or what of its path is there, lies on a file system of a network, whose locks and shared memory
// do not reach other machines.
bool is_on_network(const std::filesystem::path& folder);

// Opens `folder`/catalogue.db, with its tables. A damaged one, or one of another version, is thrown away and made anew:
// all that was in it can be read again. Where the folder cannot be written to, or another process has been writing for
// long, the catalogue lies in memory; both is noted. kFailedPrecondition when another program's database lies there;
// other codes as Database's.
Result<CatalogueFile> open_catalogue_file(const std::filesystem::path& folder, bool on_network);

// One in memory, with its tables, and a note with the reason.
Result<CatalogueFile> open_catalogue_in_memory(const Status& why);

// Can the same be answered without the file? It holds nothing that cannot be read again.
bool is_only_of_the_file(const Status& status);

// Removes the file and what SQLite keeps beside it. Fine when there is none.
Status remove_catalogue_file(const std::filesystem::path& folder);

}  // namespace trainwarden::catalogue
