// NumberLists: a list of numbers for each of 0, 1, 2, ..., all in two blocks of memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainwarden::match {

class NumberLists {
 public:
  NumberLists() = default;
  explicit NumberLists(const std::vector<std::vector<std::uint32_t>>& lists) {
    for (const auto& list : lists) {
      items_.insert(items_.end(), list.begin(), list.end());
      begins_.push_back(static_cast<std::uint32_t>(items_.size()));
    }
  }

  std::size_t size() const { return begins_.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t i) const {
    return std::span(items_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
  }

 private:
  std::vector<std::uint32_t> begins_ = {0};
  std::vector<std::uint32_t> items_;
};

}  // namespace trainwarden::match
