#include "read/profile/flame_tree.h"

#include "read/profile/call_nesting.h"

namespace trainwarden::profile {

std::uint32_t FlameTree::name_index(const std::string& name) {
  const auto [known, added] = index_of_name_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(name);
  return known->second;
}

// The parent itself when there is no room for a child.
std::uint32_t FlameTree::child(std::uint32_t parent, std::uint32_t name) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | name;
  const auto known = child_by_key_.find(key);
  if (known != child_by_key_.end()) return known->second;
  if (nodes_.size() == kMaxFlameNodes) return parent;
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  child_by_key_.emplace(key, index);
  nodes_.push_back({parent, name});
  nodes_[parent].children.push_back(index);
  return index;
}

void FlameTree::add(const OperatorBatch& batch, std::string_view prefix) {
  std::vector<std::uint32_t> names;
  for (const std::string& name : batch.names) names.push_back(name_index(name));
  std::vector<std::uint32_t> tracks;
  for (const OperatorTrack& track : batch.tracks) {
    std::string name(prefix);
    if (!name.empty()) name += ' ';
    tracks.push_back(child(0, name_index(name + track.name)));
  }
  const std::vector<CallPlace> places = nest_calls(batch);
  std::vector<std::uint32_t> node_of(batch.calls.size());
  std::vector<std::int64_t> added(nodes_.size());  // own time, of each node
  for (const std::size_t i : calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    const CallPlace& place = places[i];
    const std::uint32_t parent =
        place.parent < 0 ? tracks[call.track] : node_of[static_cast<std::size_t>(place.parent)];
    node_of[i] = child(parent, names[call.name]);
    added.resize(nodes_.size());
    if (node_of[i] == parent) ++merged_calls_;
    if (node_of[i] != parent) ++nodes_[node_of[i]].calls;
    nodes_[node_of[i]].self_ns += place.self_ns;
    added[node_of[i]] += place.self_ns;
  }
  // Parents lie before their children: from the back, each node passes on what it has got.
  added.resize(nodes_.size());
  for (std::size_t node = nodes_.size(); node-- > 0;) {
    nodes_[node].total_ns += added[node];
    if (node != 0) added[nodes_[node].parent] += added[node];
  }
}

}  // namespace trainwarden::profile
