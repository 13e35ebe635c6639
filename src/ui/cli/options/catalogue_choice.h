// The catalogue, as commands that list open it.
#pragma once

#include <filesystem>

#include "work/catalogue/catalogue.h"

namespace trainwarden::cli {

// TRAINWARDEN_CATALOGUE, else the folder `catalogue` beside this one (of jobs, runs or experiments).
std::filesystem::path catalogue_folder(const std::filesystem::path& beside);

// Where jobs stand now. Who runs many of them, as Slurm does, is asked for all of them together.
catalogue::SettleJob settle_now();

// Writes what is to be known of it to standard error.
void report_notes(catalogue::Catalogue& catalogue);

}  // namespace trainwarden::cli
