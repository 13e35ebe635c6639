// Ranks that begin as copies of rank 0, and stay so.
#pragma once

#include <stdexcept>
#include <vector>

#include "parallel/group.h"
#include "training/named_tensors.h"

namespace bert {

// Ranks are no longer copies of one another. All throw it together, and start again from the last checkpoint.
class ReplicasDiffer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws std::runtime_error on all ranks, with the first difference, unless all have the same names, dtypes and shapes
// in the same order.
void check_same_on_all_ranks(Group& group, const NamedTensors& tensors);

// check_same_on_all_ranks(), then all tensors become those of rank 0. They are contiguous.
void copy_from_first_rank(Group& group, const NamedTensors& tensors);

// Ranks whose tensors differ from rank 0's in any bit (by a checksum of their bytes); the same answer on all ranks.
// Empty where all are equal. Costs a pass over the memory.
std::vector<int> ranks_that_differ(Group& group, const NamedTensors& tensors);

}  // namespace bert
