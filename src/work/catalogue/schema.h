// The tables of the catalogue. docs/adr/0033-catalogue.md says what is in them and what never is.
#pragma once

#include "trainwarden/status.h"
#include "work/catalogue/database.h"

namespace trainwarden::catalogue {

// Makes them in a new database. kAborted when they are of another version of Trainwarden, kFailedPrecondition when the
// database is another program's, kDataLoss when it is damaged.
Status prepare_schema(Database& database);

}  // namespace trainwarden::catalogue
