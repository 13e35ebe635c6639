// Gradients of embeddings, of which a batch moves few rows.
#pragma once

#include <ATen/core/Tensor.h>

#include "parallel/group.h"

namespace bert {

// The mean over ranks of a sparse gradient [rows, ...] with one sparse dimension, coalesced; the same bits on all
// ranks. Sends as many rows as the rank with the most has, times the ranks. Waits.
at::Tensor mean_of_rows(Group& group, const at::Tensor& gradient);

}  // namespace bert
