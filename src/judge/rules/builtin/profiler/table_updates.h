// TableUpdates: how much of a recorded step goes over whole tables of embeddings, of which a batch uses a few rows. A
// pure function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainwarden/operator_calls.h"

namespace trainwarden::rules {

struct TableUpdates {
  std::size_t tables = 0;        // whose gradients are as large as they are
  std::int64_t gradient_ns = 0;  // in which these gradients are made
  std::int64_t update_ns =
      0;  // of operators that optimizers call, on the parameters that take longest, one for a table
  std::int64_t all_updates_ns = 0;  // of all operators that optimizers call
  // Of the optimizer's time, in [0, 1].
  double share() const {
    return all_updates_ns > 0 ? static_cast<double>(update_ns) / static_cast<double>(all_updates_ns) : 0;
  }
};

// An optimizer that goes over its parameters one by one calls the same operators for each. Those of a table take longer
// than those of the others as it is larger. One that updates all parameters at once has no table that can be told
// apart.
TableUpdates table_updates(const OperatorBatch& batch);

}  // namespace trainwarden::rules
