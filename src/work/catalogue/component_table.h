// Experiments, trials, components and associations of a folder, as the catalogue has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/database.h"
#include "work/experiments/experiment_store.h"

namespace trainwarden::catalogue {

struct CataloguedExperiment {
  experiments::ExperimentInfo info;  // without its tags
  std::int64_t trials = 0;           // how many
  std::int64_t components = 0;
};

// Reads what is new in the folder of experiments, and forgets what is gone. `place` is the folder's number. Codes as
// Database's; what cannot be read is left out, or is told with its component.
Status update_experiments(Database& database, std::int64_t place, const experiments::ExperimentStore& store);

// The newest first.
Result<std::vector<CataloguedExperiment>> read_experiments(Database& database, std::int64_t place);
Result<std::vector<experiments::TrialInfo>> read_trials(Database& database, std::int64_t place,
                                                        const std::string& experiment);

}  // namespace trainwarden::catalogue
