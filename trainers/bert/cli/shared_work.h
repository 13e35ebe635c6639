// What the ranks of a training do together beside training: an evaluation, of which each does a part.
#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/group.h"

namespace bert {

struct Turn {
  std::size_t begin = 0, end = 0;
};

// The batches of `count` items that this rank takes, all of them without a group. Ranks take turns, so that each batch
// has the items that it would have in one process: to the model it is the same.
std::vector<Turn> turns_of(const Group* group, std::size_t count, std::size_t batch_size);

// Of what this rank has found, with zeros in the place of what others have: all, on each rank and on the CPU. May
// change `found`. Throws PeerLost.
at::Tensor put_together(Group* group, at::Tensor found);

}  // namespace bert
