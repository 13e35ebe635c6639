// The source of a run of ours: run.json, the journals of its workers and the locks on them.
#pragma once

#include <memory>

#include "read/trial/run_source.h"

namespace trainwarden::trial {

// kNotFound when there is no run.json, kDataLoss when it cannot be used. `clock` must outlive the source.
Result<std::unique_ptr<RunSource>> open_own_source(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                   bool verify_payloads, std::shared_ptr<ReadBudget> budget);

}  // namespace trainwarden::trial
