// The jobs of a folder, as the catalogue has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "data/format/json.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/catalogue/database.h"
#include "work/jobs/job_state.h"

namespace trainwarden::catalogue {

struct CataloguedJob {
  std::string name;
  Status unreadable;  // of what follows nothing counts then
  std::int64_t submitted_unix_ns = 0;
  std::string run;  // the path of its run
  jobs::Transition now;
  std::string experiment;       // empty: it belongs to none
  std::string trial;            // the same
  std::string hyperparameters;  // a JSON object of texts and numbers by name
};

// Reads what is new or not ended in the folder of jobs, and forgets what is gone. `place` is the folder's number. A job
// that has not ended is settled (JobRecord::settle). Codes as Database's; a job that cannot be read is no error.
Status update_jobs(Database& database, std::int64_t place, const storage::Location& jobs, const Clock& clock);

// The newest first.
Result<std::vector<CataloguedJob>> read_jobs(Database& database, std::int64_t place);

}  // namespace trainwarden::catalogue
