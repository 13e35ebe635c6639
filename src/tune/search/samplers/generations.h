// Trials of samplers that work in generations, found again by their notes.
#pragma once

#include <string>
#include <vector>

#include "tune/search/history.h"

namespace trainwarden::tune {

// Indices of the complete and pruned trials of each generation, as the note of this name says; those without one belong
// to none. Without the trial of this number.
std::vector<std::vector<std::size_t>> generations_of(const History& history, const std::string& note, std::int64_t but);

}  // namespace trainwarden::tune
