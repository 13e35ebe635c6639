// What led to something and what came of it: as trees for people, as JSON, and as SageMaker's table.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "work/catalogue/lineage_query.h"

namespace trainwarden::cli {

// Two trees from the start: what went in, what came out. What stands in one twice has its own things below it once.
std::string lineage_text(const catalogue::Lineage& lineage);
OrderedJson lineage_json(const catalogue::Lineage& lineage);

// The columns of SageMaker's LineageTableVisualizer, of what is one step away: what went in before what came out.
std::string lineage_table(const catalogue::Lineage& lineage);
OrderedJson lineage_table_json(const catalogue::Lineage& lineage);

}  // namespace trainwarden::cli
