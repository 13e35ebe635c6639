#include "ui/views/profile/operator_summary.h"

#include <algorithm>

#include "core/base/clock.h"
#include "read/profile/call_family.h"

namespace trainwarden::views {
namespace {

constexpr double kNsInMs = 1e6;
constexpr std::size_t kPointsOfStep = 100;  // of one device in one step

double ms_of(std::int64_t ns) {
  return static_cast<double>(ns) / kNsInMs;
}

// The larger of each two neighbours.
void halve(std::vector<MemoryPoint>& points) {
  for (std::size_t i = 0; i < points.size(); i += 2) {
    MemoryPoint larger = points[i];
    if (i + 1 < points.size() && points[i + 1].bytes > larger.bytes) larger = points[i + 1];
    points[i / 2] = larger;
  }
  points.resize((points.size() + 1) / 2);
}

}  // namespace

bool is_stack(OperatorKind kind) {
  return profile::family_of(kind) == profile::CallFamily::kPython;
}

Status OperatorSummary::refresh(Trial& trial, std::chrono::nanoseconds patience) {
  const std::int64_t end_ns = system_clock().steady_ns() + patience.count();
  bool has_read = false;
  left_steps_ = 0;
  for (const std::string& worker : trial.workers()) {
    std::set<std::int64_t>& seen = seen_[worker];
    for (const std::int64_t step : trial.operator_steps(worker)) {
      if (seen.contains(step)) continue;
      if (has_read && system_clock().steady_ns() >= end_ns) {
        ++left_steps_;
        continue;
      }
      auto batch = trial.operators(worker, step);
      if (!batch.ok() && batch.status().code() != Code::kDataLoss) return batch.status();
      has_read = true;
      seen.insert(step);
      if (batch.ok()) {
        take(worker, *std::move(batch));
      } else {
        ++damaged_steps_;
      }
    }
  }
  return {};
}

void OperatorSummary::add(Table& table, const OperatorBatch& batch, const std::string& worker) {
  table.first_step = table.steps == 0 ? batch.global_step : std::min(table.first_step, batch.global_step);
  table.last_step = std::max(table.last_step, batch.global_step);
  ++table.steps;
  table.table.add(batch, worker);
}

void OperatorSummary::take(const std::string& worker, OperatorBatch batch) {
  take_memory(worker, batch);
  const bool has_stacks = profile::has_calls_of(batch, profile::CallFamily::kPython);
  if (!has_stacks) return add(operators_, batch, worker);
  add(stacks_, profile::calls_of(batch, profile::CallFamily::kPython), worker);
  const OperatorBatch operators = profile::calls_of(std::move(batch), profile::CallFamily::kOperators);
  if (!operators.calls.empty() || operators.lost_calls > 0) add(operators_, operators, worker);
}

// The most of each of so many parts of the step.
void OperatorSummary::take_memory(const std::string& worker, const OperatorBatch& batch) {
  const std::size_t part = std::max<std::size_t>(1, batch.memory.size() / kPointsOfStep);
  std::map<std::int32_t, std::pair<std::size_t, MemoryPoint>> open;  // of each device: changes so far, and the largest
  const auto close = [&](std::int32_t device, const MemoryPoint& point) {
    const std::pair key(worker, device);
    if (!memory_.contains(key) && memory_.size() >= kMostMemoryLines) return;
    ProfiledMemory& memory = memory_[key];
    memory.worker = worker;
    memory.device = device;
    if (point.bytes > memory.peak_bytes) {
      memory.peak_bytes = point.bytes;
      memory.peak_step = batch.global_step;
    }
    memory.points.push_back(point);
    if (memory.points.size() > kMostMemoryPoints) halve(memory.points);
  };
  for (const MemoryChange& change : batch.memory) {
    const MemoryPoint point{change.unix_ns, static_cast<double>(std::max<std::int64_t>(0, change.total_bytes))};
    auto& [count, largest] = open[change.device];
    if (open.size() > kMostMemoryLines) break;
    if (count++ == 0 || point.bytes >= largest.bytes) largest = point;
    if (const auto known = memory_.find({worker, change.device}); known != memory_.end()) {
      known->second.at_end_bytes = point.bytes;
    }
    if (count < part) continue;
    close(change.device, largest);
    memory_[{worker, change.device}].at_end_bytes = point.bytes;
    count = 0;
  }
  for (const auto& [device, of_device] : open) {
    if (of_device.first > 0) close(device, of_device.second);
  }
}

std::vector<ProfiledMemory> OperatorSummary::memory() const {
  std::vector<ProfiledMemory> all;
  for (const auto& [key, memory] : memory_) {
    if (!memory.points.empty()) all.push_back(memory);
  }
  return all;
}

std::optional<ProfiledOperators> OperatorSummary::summary_of(const Table& table) const {
  const bool is_all = &table == &operators_;
  const std::uint64_t damaged = is_all ? damaged_steps_ : 0;
  if (table.steps + damaged == 0) return std::nullopt;
  ProfiledOperators all;
  all.first_step = table.first_step;
  all.last_step = table.last_step;
  all.steps = table.steps;
  all.calls = table.table.calls();
  all.lost_calls = table.table.lost_calls();
  all.damaged_steps = damaged;
  all.left_out_steps = is_all ? left_steps_ : 0;
  all.wall_ms = ms_of(table.table.wall_ns());
  for (const profile::OperatorRow& row : table.table.rows(profile::OperatorOrder::kSelf)) {
    if (all.rows.size() == kMostOperatorRows) break;
    all.rows.push_back({row.name, row.kind, row.calls, ms_of(row.total_ns), ms_of(row.self_ns), table.table.share(row),
                        ms_of(row.longest_ns)});
  }
  return all;
}

}  // namespace trainwarden::views
