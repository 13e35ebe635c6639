#include "trial/run_source.h"

#include "trial/own_source.h"
#include "trial/smdebug/smdebug_source.h"

namespace trainwarden::trial {

Result<std::unique_ptr<RunSource>> open_run_source(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                   const TrialOptions& options) {
  if (!storage->exists(store::kRunFile) && holds_smdebug_run(*storage)) return open_smdebug_source(std::move(storage));
  return open_own_source(std::move(storage), clock, options.verify_payloads);
}

}  // namespace trainwarden::trial
