// Results: what a program leaves in its model and output folders, packed.
#pragma once

#include <filesystem>

#include "trainwarden/status.h"
#include "work/workspace/layout.h"

namespace trainwarden::workspace {

// Is there something to pack?
bool has_results(const JobLayout& layout);

// Packs the model into model.tar.gz and the output data into output.tar.gz in layout.results, each when there is
// something in it. The same files give the same bytes, whoever owns them and whenever they were written. An archive is
// there whole or not at all. Asks the program `tar` of GNU; kFailedPrecondition when it is missing or fails.
Status pack_results(const JobLayout& layout);

}  // namespace trainwarden::workspace
