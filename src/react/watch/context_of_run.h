// The context in which actions act on a run that a trial reads.
#pragma once

#include <functional>

#include "react/actions/run_context.h"
#include "trainwarden/trial.h"

namespace trainwarden::watch {

// `trial` must outlive the context.
actions::RunContext context_of_run(const Trial& trial,
                                   std::function<Result<actions::RunAnswer>(const format::RequestId&)> answer_to);

}  // namespace trainwarden::watch
