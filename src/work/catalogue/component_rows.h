// Components that a search finds, whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/component_search.h"
#include "work/catalogue/database.h"
#include "work/experiments/experiment_store.h"

namespace trainwarden::catalogue {

inline constexpr std::size_t kMostComponents = 10'000;  // of an answer, as SageMaker's analytics

struct FoundComponent {
  experiments::Component component;
  std::vector<std::string> experiments;  // of its trials, by name
};

// In the order of `sort`; what has no such value comes last. At most `most`. kInvalidArgument as condition_of().
Result<std::vector<FoundComponent>> find_components(Database& database, std::int64_t place,
                                                    const SearchExpression& expression, const SortChoice& sort,
                                                    std::size_t most);

}  // namespace trainwarden::catalogue
