// CoarseOrder: the numbers from 0 to count - 1, each once, some from everywhere first, then those between them.
#pragma once

#include <bit>
#include <cstddef>
#include <optional>

namespace trainwarden::views {

class CoarseOrder {
 public:
  // The first `coarse` or so are spread over all of them.
  CoarseOrder(std::size_t count, std::size_t coarse)
      : count_(count), left_(count), stride_(std::bit_ceil((count + coarse - 1) / coarse)) {}

  std::size_t left() const { return left_; }

  // None when all were given.
  std::optional<std::size_t> next() {
    if (left_ == 0) return std::nullopt;
    while (at_ >= count_) {
      stride_ /= 2;
      at_ = stride_;
      apart_ = 2 * stride_;
    }
    const std::size_t given = at_;
    at_ += apart_ == 0 ? stride_ : apart_;
    --left_;
    return given;
  }

 private:
  std::size_t count_;
  std::size_t left_;
  std::size_t stride_;
  std::size_t at_ = 0;
  std::size_t apart_ = 0;  // between those of this round; 0 in the first, which takes each multiple of the stride
};

}  // namespace trainwarden::views
