// RingAllocator: hands out ranges of a fixed space, first come, first back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace trainwarden::device {

// One thread at a time.
class RingAllocator {
 public:
  explicit RingAllocator(std::size_t capacity) : capacity_(capacity) {}

  struct Range {
    std::size_t begin = 0;
    std::uint64_t number = 0;  // to give it back by
  };
  // `size`, at least 1, places in a row; none when there is no room now. What follows on a range that was just taken
  // lies behind it, unless the end of the space is reached.
  std::optional<Range> take(std::size_t size);
  // In any order. A range becomes room again once all that were taken before it have been given back.
  void give_back(std::uint64_t number);

  std::size_t capacity() const { return capacity_; }

 private:
  struct Taken {
    std::size_t begin;
    std::size_t end;
    bool back = false;
  };

  std::optional<std::size_t> find_room(std::size_t size) const;

  const std::size_t capacity_;
  std::deque<Taken> taken_;          // oldest first
  std::uint64_t oldest_number_ = 0;  // of taken_.front()
};

}  // namespace trainwarden::device
