#include "data/format/record_layouts.h"

#include <algorithm>

namespace trainwarden::format {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::span<const RecordIndexRow> records) {
  std::uint64_t hash = records.size();
  for (const RecordIndexRow& record : records) {
    hash = mixed(hash, std::uint64_t{record.tensor} << 8 | static_cast<std::uint64_t>(record.form));
    hash = mixed(hash, std::uint64_t{record.frame} << 32 | record.row);
  }
  return hash;
}

}  // namespace

std::uint32_t RecordLayouts::add(std::span<const RecordIndexRow> records) {
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [known, is_new] = known_.try_emplace(hash_of(records), next);
  if (!is_new) {
    const std::span<const RecordIndexRow> there = this->records(known->second);
    if (std::equal(there.begin(), there.end(), records.begin(), records.end())) return known->second;
    known->second = next;
  }
  places_.push_back({records_.size(), records.size()});
  records_.insert(records_.end(), records.begin(), records.end());
  return next;
}

std::span<const RecordIndexRow> RecordLayouts::records(std::uint32_t layout) const {
  const Place& place = places_[layout];
  return std::span(records_).subspan(place.first, place.count);
}

std::vector<std::uint32_t> RecordLayouts::record_counts() const {
  std::vector<std::uint32_t> counts;
  counts.reserve(places_.size());
  for (const Place& place : places_) counts.push_back(static_cast<std::uint32_t>(place.count));
  return counts;
}

}  // namespace trainwarden::format
