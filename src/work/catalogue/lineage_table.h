// The things one step from another, as SageMaker's LineageTableVisualizer shows them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "work/catalogue/lineage_query.h"

namespace trainwarden::catalogue {

inline constexpr std::array kLineageColumns = {"Name/Source", "Direction", "Type", "Association Type", "Lineage Type"};
using LineageRow = std::array<std::string, kLineageColumns.size()>;

// Of the start: what went in first, then what came out. Long names are shortened as the visualizer does.
std::vector<LineageRow> lineage_rows(const Lineage& lineage);

}  // namespace trainwarden::catalogue
