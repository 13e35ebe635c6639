#include "read/trial/run_source.h"

#include <fmt/format.h>

#include "read/trial/own_source.h"
#include "read/trial/smdebug/smdebug_source.h"

namespace trainwarden::trial {

Result<std::unique_ptr<RunSource>> open_run_source(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                   const TrialOptions& options, std::shared_ptr<ReadBudget> budget) {
  if (!storage->exists(journal::kRunFile) && holds_smdebug_run(*storage)) {
    return open_smdebug_source(std::move(storage), std::move(budget));
  }
  auto source = open_own_source(storage, clock, options.verify_payloads, std::move(budget));
  if (source.status().code() != Code::kNotFound) return source;
  return Status(Code::kNotFound,
                fmt::format("no run at {}: there is no {} in it, and neither collections nor index of smdebug's",
                            storage->describe(""), journal::kRunFile));
}

}  // namespace trainwarden::trial
