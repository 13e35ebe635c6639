// The metrics of jobs and runs, as the catalogue has them: summaries, which are read again when a run has gone on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/catalogue/database.h"
#include "work/catalogue/list_item.h"

namespace trainwarden::catalogue {

// What has been measured: a job, or a run.
struct MetricOwner {
  std::string name;
  storage::Location run;  // that has the metrics; nothing need be there
  std::int64_t mark = 0;  // what it looks like; 0: it may go on
};

// What a run has measured: experiments::metrics_of_run().
using ReadMetrics = std::function<Result<MetricsByName>(const storage::Location& run)>;

struct OwnedMetrics {
  std::map<std::string, MetricsByName> of;  // by the owner's name
  std::size_t unread = 0;                   // how many owners could not be looked at within the patience
};

// The metrics of things in a folder, whose number is `place`. Of those that have changed they are read first, in their
// order, until `patience` is over; what goes on is read again when 20 times as long has passed as reading it took,
// so that looking costs little. A run that cannot be read has no metrics. Codes as Database's.
Result<OwnedMetrics> current_metrics(Database& database, std::int64_t place, const std::vector<MetricOwner>& owners,
                                     const ReadMetrics& read, std::chrono::milliseconds patience, const Clock& clock);

}  // namespace trainwarden::catalogue
