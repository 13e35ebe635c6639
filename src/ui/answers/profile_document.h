// A run's profile as a document, wherever the run lies: for the command line and for files.
#pragma once

#include <optional>
#include <string>

#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::answers {

// The answer of /runs/{run}/profile, compared with another run when there is one. The errors of Trial::open.
Result<std::string> profile_document(const storage::Location& run,
                                     const std::optional<storage::Location>& against = std::nullopt);

}  // namespace trainwarden::answers
