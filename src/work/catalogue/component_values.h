// Whether components have the parameters and metrics that a search names.
#pragma once

#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/component_rows.h"

namespace trainwarden::catalogue {

// What a search names: "lr" and "loss" as columns, "Parameters.lr" and "Metrics.loss.Max" as properties.
struct NamedValues {
  std::vector<std::string> columns;
  std::vector<std::string> properties;  // those of other things than parameters and metrics are not looked at
};

// kInvalidArgument for the first that none of the components has, with the nearest, or all that there are.
Status check_named_values(const std::vector<FoundComponent>& components, const NamedValues& named);

}  // namespace trainwarden::catalogue
