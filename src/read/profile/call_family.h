// Call family: what the framework and devices ran, and what samples found on the stacks of Python, are looked at apart.
#pragma once

#include <cstdint>

#include "trainwarden/operator_calls.h"

namespace trainwarden::profile {

// Calls of the first are measured, those of the second sampled; both cover the same time.
enum class CallFamily : std::uint8_t { kOperators, kPython };

inline CallFamily family_of(OperatorKind kind) {
  return kind == OperatorKind::kPythonStack ? CallFamily::kPython : CallFamily::kOperators;
}

bool has_calls_of(const OperatorBatch& batch, CallFamily family);

// The batch with the calls of one family alone, and their tracks. Memory stays with the operators, and so does what was
// lost, of which nobody knows whose it was.
OperatorBatch calls_of(OperatorBatch batch, CallFamily family);

}  // namespace trainwarden::profile
