// Operator choice: of which workers and steps operator calls are wanted, and which of them there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/transfer.h"
#include "trainwarden/trial.h"

namespace trainwarden::transfer {

struct OperatorChoice {
  std::vector<std::string> workers{};  // empty: all
  std::vector<StepRange> steps{};      // global; any of these; empty: all
};

struct WorkerCalls {
  std::string worker;
  std::vector<std::int64_t> steps;  // rising, one at least
};

// kNotFound when a worker is not there, or when the choice has no operator calls.
Result<std::vector<WorkerCalls>> find_operator_calls(const Trial& trial, const OperatorChoice& choice);

}  // namespace trainwarden::transfer
