#include "judge/rules/builtin/profiler/table_updates.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

#include "judge/rules/builtin/profiler/recorded_calls.h"
#include "read/profile/call_nesting.h"

namespace trainwarden::rules {
namespace {

constexpr std::string_view kGradients[] = {"aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"};
constexpr std::int64_t kSmallPart = 20;  // operators that take less than one in so many parts say nothing of parameters

using Durations = std::map<std::string_view, std::vector<std::int64_t>>;  // by operator, in ns

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Of operators that nobody but an optimizer called. The gradients of tables are counted on the way.
Durations updates_of(const OperatorBatch& batch, TableUpdates& found) {
  Durations updates;
  std::uint32_t track = std::numeric_limits<std::uint32_t>::max();
  std::int64_t optimizer_until = 0, outer_until = 0;
  for (const std::size_t i : profile::calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    if (call.track >= batch.tracks.size() || batch.tracks[call.track].device || call.name >= batch.names.size())
      continue;
    if (call.track != track) {
      track = call.track;
      optimizer_until = outer_until = std::numeric_limits<std::int64_t>::min();
    }
    const std::string_view name = batch.names[call.name];
    if (call.kind == OperatorKind::kUser && name.starts_with(kOptimizerScopePrefix)) {
      optimizer_until = std::max(optimizer_until, profile::end_ns(call));
    }
    if (call.kind != OperatorKind::kOperator) continue;
    if (std::find(std::begin(kGradients), std::end(kGradients), name) != std::end(kGradients)) {
      ++found.tables;
      found.gradient_ns += call.duration_ns;
    }
    if (call.start_unix_ns >= optimizer_until || call.start_unix_ns < outer_until) continue;
    outer_until = profile::end_ns(call);
    updates[name].push_back(call.duration_ns);
  }
  return updates;
}

}  // namespace

TableUpdates table_updates(const OperatorBatch& batch) {
  TableUpdates found;
  Durations updates = updates_of(batch, found);
  for (const auto& [name, durations] : updates) found.all_updates_ns += sum_of(durations);
  if (found.tables == 0) return found;
  // An operator that is called once for each parameter is called least often.
  std::size_t parameters = std::numeric_limits<std::size_t>::max();
  for (const auto& [name, durations] : updates) {
    if (sum_of(durations) * kSmallPart >= found.all_updates_ns) parameters = std::min(parameters, durations.size());
  }
  if (parameters <= found.tables) return found;
  for (auto& [name, durations] : updates) {
    if (durations.size() < parameters) continue;
    const std::size_t of_tables = found.tables * (durations.size() / parameters);
    std::partial_sort(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(of_tables), durations.end(),
                      std::greater<>());
    durations.resize(of_tables);
    found.update_ns += sum_of(durations);
  }
  return found;
}

}  // namespace trainwarden::rules
