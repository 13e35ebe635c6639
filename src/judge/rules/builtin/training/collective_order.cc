#include "judge/rules/builtin/training/collective_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::rules {
namespace {

constexpr std::size_t kMaxBehindTold = 8;
constexpr std::size_t kMaxGroupsTold = 4;
// Older versions of torch begin to count at a random number, which says nothing to anybody.
constexpr std::int64_t kLargestTold = 100'000'000;
// Operations to which all members must bring a tensor of the same size.
constexpr std::array<std::string_view, 3> kOfOneSize = {"all_reduce", "broadcast", "reduce"};

struct Member {
  std::string_view worker;
  const GroupState* state;
};
using Members = std::vector<Member>;

// "all_reduce of [4] (number 42)"
std::string described(const GroupState& state) {
  std::string text = state.operation.empty() ? "an operation" : printable(state.operation);
  if (!state.sizes.empty()) text += fmt::format(" of [{}]", fmt::join(state.sizes, ", "));
  if (state.number <= kLargestTold) text += fmt::format(" (number {})", state.number);
  return text;
}

// Those that have begun fewer operations than the first of `members`, which has begun the most.
std::string list_behind(const Members& members) {
  const GroupState& first = *members.front().state;
  std::string listed;
  std::size_t behind = 0;
  for (const Member& member : members) {
    const std::int64_t fewer = first.number - member.state->number;
    if (fewer == 0 || ++behind > kMaxBehindTold) continue;
    listed += fmt::format("{}{} ({} fewer)", listed.empty() ? "" : ", ", member.worker, fewer);
  }
  if (behind == 0) return "";
  const std::string more = behind > kMaxBehindTold ? fmt::format(" and {} more", behind - kMaxBehindTold) : "";
  return fmt::format(" Not all have begun as many collective operations: {} is at {}, and behind it are {}{}.",
                     members.front().worker, described(first), listed, more);
}

bool fit_together(const GroupState& one, const GroupState& other) {
  if (one.operation.empty() || other.operation.empty()) return true;  // not known
  if (one.operation != other.operation) return false;
  const bool of_one_size = std::find(kOfOneSize.begin(), kOfOneSize.end(), one.operation) != kOfOneSize.end();
  return !of_one_size || one.sizes.empty() || other.sizes.empty() || one.sizes == other.sizes;
}

// Of members that have begun equally many.
std::string find_mismatch(const Members& members) {
  const auto known = std::find_if(members.begin(), members.end(),
                                  [](const Member& member) { return !member.state->operation.empty(); });
  if (known == members.end()) return "";
  for (const Member& member : members) {
    if (fit_together(*known->state, *member.state)) continue;
    return fmt::format(" At the same place {} calls {}, and {} calls {}: they wait for each other.", known->worker,
                       described(*known->state), member.worker, described(*member.state));
  }
  const bool all_wait = std::all_of(members.begin(), members.end(), [](const Member& member) {
    return !member.state->is_complete && !member.state->operation.empty();
  });
  return all_wait ? fmt::format(" All of them are in the same {}.", described(*known->state)) : "";
}

}  // namespace

std::string compare_collectives(const std::vector<WorkerStall>& stalls) {
  std::map<std::pair<std::string_view, std::string_view>, Members> groups;
  for (const WorkerStall& stall : stalls) {
    for (const GroupState& state : stall.report.groups) {
      groups[{state.group, state.ranks}].push_back({stall.worker, &state});
    }
  }
  std::string text;
  std::size_t told = 0;
  for (auto& [name, members] : groups) {
    if (members.size() < 2 || told == kMaxGroupsTold) continue;
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.state->number > b.state->number; });
    std::string of_group = list_behind(members);
    if (of_group.empty()) of_group = find_mismatch(members);
    told += of_group.empty() ? 0 : 1;
    text += of_group;
  }
  return text;
}

}  // namespace trainwarden::rules
