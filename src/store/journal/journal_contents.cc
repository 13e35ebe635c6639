#include "store/journal/journal_contents.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainwarden::journal {

void JournalContents::make_room_for_steps(std::size_t count, std::size_t frames) {
  make_room(steps, count);
  make_room(step_data, count);
  make_room(frame_offsets, frames);
}

std::uint32_t JournalContents::tensor_index(std::string_view name) {
  const auto next_index = static_cast<std::uint32_t>(tensors.size());
  const auto [known, is_new] = tensor_by_name.emplace(name, next_index);
  if (is_new) tensors.push_back({std::string(name), {}});
  return known->second;
}

std::uint32_t JournalContents::add_name(const format::NameEntry& entry) {
  const std::uint32_t index = tensor_index(entry.name);
  std::vector<std::string>& known = tensors[index].collections;
  std::vector<std::string> added = entry.collections;
  std::sort(added.begin(), added.end());
  if (std::includes(known.begin(), known.end(), added.begin(), added.end())) return index;
  std::vector<std::string> all;
  std::set_union(known.begin(), known.end(), added.begin(), added.end(), std::back_inserter(all));
  all.erase(std::unique(all.begin(), all.end()), all.end());
  known = std::move(all);
  return index;
}

bool JournalContents::knows(const Metric& metric) const {
  return metric_by_key.contains({metric.name, metric.source, metric.instance});
}

std::uint32_t JournalContents::add_metric(const Metric& metric) {
  const auto next_index = static_cast<std::uint32_t>(metrics.size());
  const auto [known, is_new] = metric_by_key.try_emplace({metric.name, metric.source, metric.instance}, next_index);
  if (is_new) {
    metrics.push_back(metric);
  } else {
    metrics[known->second] = metric;
  }
  return known->second;
}

void JournalContents::add_collections(std::span<const Collection> added) {
  for (const Collection& collection : added) {
    const auto [known, is_new] = collection_by_name.emplace(collection.name, collections.size());
    if (is_new) {
      collections.push_back(collection);
    } else {
      collections[known->second] = collection;
    }
  }
}

}  // namespace trainwarden::journal
