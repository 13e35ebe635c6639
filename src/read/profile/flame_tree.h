// Flame tree: the time of operator calls by the stack of calls around them, merged over steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainwarden/operator_calls.h"

namespace trainwarden::profile {

// Stacks that a tree holds. What lies within those that have no room counts as the own time of the call around it.
inline constexpr std::size_t kMaxFlameNodes = std::size_t{1} << 18;

// One stack of calls. The first node is the root; below it lie the tracks, and below these the calls.
struct FlameNode {
  std::uint32_t parent = 0;
  std::uint32_t name = 0;  // index into names()
  std::uint64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;  // with all nodes below it
  std::vector<std::uint32_t> children{};
};

class FlameTree {
 public:
  FlameTree() : nodes_(1), names_(1) {}

  // The tracks of each prefix (a worker's name) have nodes of their own: "rank-00000 thread 4711". Empty: no prefix.
  void add(const OperatorBatch& batch, std::string_view prefix = {});

  // A node lies behind its parent.
  const std::vector<FlameNode>& nodes() const { return nodes_; }
  const std::vector<std::string>& names() const { return names_; }
  std::uint64_t merged_calls() const { return merged_calls_; }  // that had no room of their own

 private:
  std::uint32_t child(std::uint32_t parent, std::uint32_t name);
  std::uint32_t name_index(const std::string& name);

  std::vector<FlameNode> nodes_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> index_of_name_;
  std::unordered_map<std::uint64_t, std::uint32_t> child_by_key_;  // parent and name
  std::uint64_t merged_calls_ = 0;
};

}  // namespace trainwarden::profile
