// The context in which actions act on a run that a trial reads.
#pragma once

#include <functional>
#include <string_view>

#include "actions/run_context.h"
#include "storage/storage.h"
#include "trainwarden/trial.h"

namespace trainwarden::watch {

// `storage` is the run's and must outlive the context; the trial need not.
actions::RunContext context_of_run(const Trial& trial, storage::Storage& storage,
                                   std::function<Result<actions::RunAnswer>(std::string_view)> answer_to);

}  // namespace trainwarden::watch
