#include "data/device/ring_allocator.h"

namespace trainwarden::device {

std::optional<RingAllocator::Range> RingAllocator::take(std::size_t size) {
  const std::optional<std::size_t> begin = find_room(size);
  if (!begin) return std::nullopt;
  taken_.push_back({*begin, *begin + size});
  return Range{*begin, oldest_number_ + taken_.size() - 1};
}

// What is taken is one piece, or two: the end of the space and its beginning.
std::optional<std::size_t> RingAllocator::find_room(std::size_t size) const {
  if (taken_.empty()) return size <= capacity_ ? std::optional<std::size_t>(0) : std::nullopt;
  const std::size_t tail = taken_.front().begin;
  const std::size_t head = taken_.back().end;
  const bool wrapped = head <= tail;
  if (wrapped) return size <= tail - head ? std::optional(head) : std::nullopt;
  if (size <= capacity_ - head) return head;
  return size <= tail ? std::optional<std::size_t>(0) : std::nullopt;
}

void RingAllocator::give_back(std::uint64_t number) {
  taken_[static_cast<std::size_t>(number - oldest_number_)].back = true;
  while (!taken_.empty() && taken_.front().back) {
    taken_.pop_front();
    ++oldest_number_;
  }
}

}  // namespace trainwarden::device
