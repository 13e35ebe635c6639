// RangeIndex: which of many ranges a point lies in, found in time that grows with their logarithm and with the answer.
//
// The bounds of all ranges cut the line into points and the gaps between them. Those are the leaves of a segment tree:
// each range is noted at the few nodes that together cover it, and a lookup climbs from one leaf to the root.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "react/match/number_lists.h"

namespace trainwarden::match {

template <class Key>
class RangeIndex {
 public:
  struct Range {
    Key bottom;
    Key top;
    bool without_bottom = false;
    bool without_top = false;
    std::uint32_t number = 0;
  };

  RangeIndex() = default;
  explicit RangeIndex(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
      bounds_.push_back(range.bottom);
      bounds_.push_back(range.top);
    }
    std::sort(bounds_.begin(), bounds_.end());
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    std::vector<std::vector<std::uint32_t>> nodes(2 * leaf_count());
    for (const Range& range : ranges) {
      note(range.number, leaf_of(range.bottom) + (range.without_bottom ? 1 : 0),
           leaf_of(range.top) + (range.without_top ? 0 : 1), nodes);
    }
    nodes_ = NumberLists(nodes);
  }

  bool empty() const { return bounds_.empty(); }

  // Calls found(number) for each range that `key` lies in.
  template <class Found>
  void find(const Key& key, Found&& found) const {
    for (std::size_t node = leaf_count() + leaf_of(key); node > 0; node /= 2) {
      for (const std::uint32_t number : nodes_[node]) found(number);
    }
  }

 private:
  // Gap 0, point 1, gap 2, point 3, ..., the last gap.
  std::size_t leaf_count() const { return 2 * bounds_.size() + 1; }
  std::size_t leaf_of(const Key& key) const {
    const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), key);
    const auto index = static_cast<std::size_t>(bound - bounds_.begin());
    return 2 * index + (bound != bounds_.end() && *bound == key ? 1 : 0);
  }

  // The leaves from `first` up to but without `end`.
  void note(std::uint32_t number, std::size_t first, std::size_t end, std::vector<std::vector<std::uint32_t>>& nodes) {
    for (first += leaf_count(), end += leaf_count(); first < end; first /= 2, end /= 2) {
      if (first % 2 == 1) nodes[first++].push_back(number);
      if (end % 2 == 1) nodes[--end].push_back(number);
    }
  }

  std::vector<Key> bounds_;
  NumberLists nodes_;
};

}  // namespace trainwarden::match
