// The jobs of a folder, as the catalogue has them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/format/json.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/catalogue/database.h"
#include "work/jobs/job_record.h"

namespace trainwarden::catalogue {

struct CataloguedJob {
  std::string name;
  std::int64_t mark = 0;  // what its folder looks like; 0: it may go on
  Status unreadable;      // of what follows nothing counts then
  std::int64_t submitted_unix_ns = 0;
  std::string run;  // the path of its run
  jobs::Transition now;
  std::string experiment;       // empty: it belongs to none
  std::string trial;            // the same
  std::string hyperparameters;  // a JSON object of texts and numbers by name
  std::int64_t ran_ns = 0;      // how long its program has run in all attempts, as of now
};

// Says where a job stands that may not have ended: JobRecord::settle(), or what else knows of its backend.
using SettleJob = std::function<Result<jobs::Transition>(jobs::JobRecord&)>;

// Reads what is new or not ended in the folder of jobs, and forgets what is gone. `place` is the folder's number. Codes
// as Database's; a job that cannot be read is no error.
Status update_jobs(Database& database, std::int64_t place, const storage::Location& jobs, const SettleJob& settle);

// The newest first.
Result<std::vector<CataloguedJob>> read_jobs(Database& database, std::int64_t place);

}  // namespace trainwarden::catalogue
