// Gradients of embeddings, of which a batch moves few rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "parallel/group.h"

namespace bert {

struct MeanOfRows {
  at::Tensor gradient;     // coalesced, the same bits on all ranks
  std::int64_t bytes = 0;  // that each rank gave to all others
};

// The mean over ranks of a sparse gradient [rows, ...] with one sparse dimension. Each rank sends as many rows as the
// rank with the most has. Waits.
MeanOfRows mean_of_rows(Group& group, const at::Tensor& gradient);

}  // namespace bert
