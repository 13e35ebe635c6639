// Campaign: many cases, one after the other, and what came of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "case_plan.h"

namespace trainwarden::torture {

struct CampaignOptions {
  std::vector<Kind> kinds;  // in turn
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 0;                    // 0: until the time is over
  std::optional<std::chrono::seconds> time;  // none: until all runs are done
};

// The kinds that this program can play.
const std::vector<Kind>& all_kinds();

// Prints a table and the stories of violations. How many cases had one.
std::uint64_t run_campaign(const CampaignOptions& options);

// Each mutation must be found within `most_runs` cases of its kind. Prints a table; how many were not found.
int prove(std::uint64_t most_runs);

// Plays one case and prints its story. False when it has a violation.
bool print_story(const CasePlan& plan);

}  // namespace trainwarden::torture
