// Description: everything about a run and its rules that events, `describe` and Python show, from one place.
#pragma once

#include "data/format/json.h"
#include "react/events/ledger.h"
#include "react/events/run_view.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::events {

// Where the run stands: what its ledger has recorded, and what follows from its files beyond that, by the same fold.
// Writes nothing. While somebody keeps the ledger, the run is not over before the ledger says so.
Result<RunView> view_run(Trial& trial, const LedgerContents& recorded);
// The same, with the ledger read.
Result<RunView> view_run(Trial& trial);

// As SageMaker's describe_training_job() where that makes sense off its cloud, with fields of ours beside it
// (docs/reference/describe.md). Times are RFC 3339 texts in UTC. kNotFound when there is no run.
Result<format::OrderedJson> describe_run(const storage::Location& run);

}  // namespace trainwarden::events
