// The runs of a folder, as the catalogue has them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/catalogue/database.h"

namespace trainwarden::catalogue {

// The newest number of collection `losses`.
struct CataloguedLoss {
  std::string tensor;
  std::int64_t step = 0;  // global
  double value = 0;
};

struct CataloguedRun {
  std::string name;
  std::int64_t mark = 0;  // what its folder looks like; 0: it may go on
  Status unreadable;      // of what follows nothing counts then
  bool over = false;      // as it was read: nobody trains, judges it or records its events any more
  std::int64_t created_unix_ns = 0;
  std::string state;   // "running", "died"
  std::string status;  // "Training", "Failed"; empty: its journals say nothing
  std::string recorder;
  std::string labels;  // a JSON object of texts by name
  std::int64_t steps = 0;
  std::int64_t last_step = -1;
  std::optional<CataloguedLoss> loss;
  std::int64_t rules = 0;  // how many watch or watched it
  std::int64_t fired = 0;  // of them
};

// Reads a run; its name and mark are not asked for.
using ReadListedRun = std::function<CataloguedRun(const storage::Location& run)>;

// Reads what is new or not over in the folder of runs, and forgets what is gone. `place` is the folder's number.
// kNotFound when there is no such folder; other codes as Database's. A run that cannot be read is no error.
Status update_runs(Database& database, std::int64_t place, const storage::Location& runs, const ReadListedRun& read);

// By name.
Result<std::vector<CataloguedRun>> read_runs(Database& database, std::int64_t place);

}  // namespace trainwarden::catalogue
