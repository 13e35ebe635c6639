#include "cli/shared_work.h"

#include <algorithm>

namespace bert {

std::vector<Turn> turns_of(const Group* group, std::size_t count, std::size_t batch_size) {
  const std::size_t ranks = group == nullptr ? 1 : static_cast<std::size_t>(group->size());
  const std::size_t rank = group == nullptr ? 0 : static_cast<std::size_t>(group->rank());
  std::vector<Turn> turns;
  for (std::size_t begin = rank * batch_size; begin < count; begin += ranks * batch_size) {
    turns.push_back({.begin = begin, .end = std::min(begin + batch_size, count)});
  }
  return turns;
}

at::Tensor put_together(Group* group, at::Tensor found) {
  if (group == nullptr || group->size() == 1) return found.cpu();
  found = found.to(group->device());
  group->sum(found).wait();
  return found.cpu();
}

}  // namespace bert
