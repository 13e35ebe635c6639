// The texts of an examination, as the format says them: structure, graph, layout. kDataLoss for anything else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/diagnosis/history.h"
#include "trainwarden/status.h"

namespace trainwarden::diagnosis {

Result<Structure> read_structure(std::string_view text);
Result<Graph> read_graph(std::string_view text);
// Names, and how many numbers each has.
Result<std::vector<std::pair<std::string, std::size_t>>> read_layout(std::string_view text);

}  // namespace trainwarden::diagnosis
