// Operator batch: the calls of a step as the journal takes them.
#pragma once

#include <cstdint>

#include "hook/capture/operators/operator_logs.h"
#include "hook/capture/step_counter.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::capture {

// What the writer thread makes it of. `names` outlives it, as logs are never destroyed.
struct StepCalls {
  StepId id;
  CollectedCalls calls;
  const OperatorNames& names;
  const OperatorNames& frame_names;
};

// A track for each thread, by its number, then one for each thread whose stacks were sampled.
OperatorBatch make_operator_batch(const StepCalls& step);

}  // namespace trainwarden::capture
