// RecordLayouts: lists of records, each kept once. Most steps of a training hold the same tensors in the same forms.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/format/segment_index.h"

namespace trainwarden::format {

// One thread at a time.
class RecordLayouts {
 public:
  // The number of this list. A list that was added before has its number again, unless another one has taken its place
  // among those that are looked at: how long that takes does not depend on what was added.
  std::uint32_t add(std::span<const RecordIndexRow> records);

  // Valid until the next add().
  std::span<const RecordIndexRow> records(std::uint32_t layout) const;
  std::size_t size() const { return places_.size(); }
  const std::vector<RecordIndexRow>& all_records() const { return records_; }  // one list after the other
  std::vector<std::uint32_t> record_counts() const;                            // of each list

 private:
  struct Place {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::vector<RecordIndexRow> records_;
  std::vector<Place> places_;                               // by number
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by hash, the last one that had it
};

}  // namespace trainwarden::format
