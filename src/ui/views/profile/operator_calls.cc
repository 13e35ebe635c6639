#include "ui/views/profile/operator_calls.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "read/profile/call_nesting.h"
#include "read/profile/flame_tree.h"
#include "ui/views/profile/operator_summary.h"

namespace trainwarden::views {
namespace {

constexpr std::uint8_t kKinds = 7;
constexpr std::chrono::milliseconds kFlamePatience{1500};  // with reading steps
constexpr double kNsInUs = 1e3;

struct WindowMemory {
  std::map<std::pair<std::string, std::int64_t>, StepOfCalls> counted;
};

Result<StepOfCalls> count_calls(Trial& trial, const std::string& worker, std::int64_t step) {
  StepOfCalls window{worker, step, 0, 0, false};
  const auto batch = trial.operators(worker, step);
  if (batch.status().code() == Code::kDataLoss) return window;  // its calls are lost, and not known how many
  if (!batch.ok()) return batch.status();
  window.calls = batch->calls.size();
  window.lost_calls = batch->lost_calls;
  window.has_stacks = std::any_of(batch->calls.begin(), batch->calls.end(),
                                  [](const OperatorCall& call) { return is_stack(call.kind); });
  return window;
}

std::string worker_with(const Trial& trial, std::int64_t step) {
  for (const std::string& worker : trial.workers()) {
    const auto steps = trial.operator_steps(worker);
    if (std::binary_search(steps.begin(), steps.end(), step)) return worker;
  }
  return trial.workers().empty() ? "" : trial.workers().front();
}

bool is_wanted(const OperatorCall& call, const CallQuestion& question) {
  return question.kinds.empty() ||
         std::find(question.kinds.begin(), question.kinds.end(), call.kind) != question.kinds.end();
}

void add_calls(const OperatorBatch& batch, const CallQuestion& question, CallColumns& columns) {
  const std::vector<profile::CallPlace> places = profile::nest_calls(batch);
  for (const std::size_t i : profile::calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    if (!is_wanted(call, question)) continue;
    columns.name.push_back(call.name);
    columns.track.push_back(static_cast<std::uint16_t>(call.track));
    columns.kind.push_back(static_cast<std::uint8_t>(call.kind));
    columns.depth.push_back(static_cast<std::uint16_t>(
        std::min<std::uint32_t>(places[i].depth, std::numeric_limits<std::uint16_t>::max())));
    columns.start_ns.push_back(static_cast<double>(call.start_unix_ns - columns.start_unix_ns));
    columns.duration_ns.push_back(static_cast<double>(std::max<std::int64_t>(0, call.duration_ns)));
    columns.sequence.push_back(static_cast<double>(call.sequence));
  }
}

void add_changes(const OperatorBatch& batch, CallColumns& columns) {
  for (const MemoryChange& change : batch.memory) {
    columns.memory_time_ns.push_back(static_cast<double>(change.unix_ns - columns.start_unix_ns));
    columns.memory_bytes.push_back(static_cast<double>(change.bytes));
    columns.memory_total.push_back(static_cast<double>(change.total_bytes));
    columns.memory_device.push_back(change.device);
  }
}

// The nodes of most time, with all around them.
FlameAnswer rows_of(const profile::FlameTree& tree) {
  const auto& nodes = tree.nodes();
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < nodes.size(); ++i) order.push_back(i);
  if (order.size() > kMostFlameRows) {
    std::nth_element(order.begin(), order.begin() + kMostFlameRows, order.end(), [&](std::size_t a, std::size_t b) {
      return nodes[a].total_ns != nodes[b].total_ns ? nodes[a].total_ns > nodes[b].total_ns : a < b;
    });
    order.resize(kMostFlameRows);
    std::sort(order.begin(), order.end());
  }
  FlameAnswer answer;
  std::map<std::uint32_t, std::uint32_t> name_of;
  std::vector<std::int64_t> place(nodes.size(), -1);
  for (const std::size_t i : order) {
    const profile::FlameNode& node = nodes[i];
    if (node.parent != 0 && place[node.parent] < 0) continue;  // as large as its parent, which was left out
    const auto [name, is_new] = name_of.try_emplace(node.name, static_cast<std::uint32_t>(answer.names.size()));
    if (is_new) answer.names.push_back(tree.names()[node.name]);
    place[i] = static_cast<std::int64_t>(answer.nodes.size());
    answer.nodes.push_back({node.parent == 0 ? -1 : place[node.parent], name->second,
                            static_cast<double>(node.self_ns) / kNsInUs, static_cast<double>(node.total_ns) / kNsInUs,
                            node.calls});
  }
  return answer;
}

}  // namespace

Result<std::vector<StepOfCalls>> read_operator_windows(const OpenRun::Use& run) {
  Trial& trial = run.trial();
  auto& counted = run.memory<WindowMemory>().counted;
  std::vector<StepOfCalls> windows;
  for (const std::string& worker : trial.workers()) {
    std::vector<std::int64_t> steps = trial.operator_steps(worker);
    const std::size_t left_out = steps.size() > kMostOperatorWindows ? steps.size() - kMostOperatorWindows : 0;
    for (std::size_t i = left_out; i < steps.size() && windows.size() < kMostOperatorWindows; ++i) {
      auto known = counted.find({worker, steps[i]});
      if (known == counted.end()) {
        TRAINWARDEN_ASSIGN_OR_RETURN(StepOfCalls window, count_calls(trial, worker, steps[i]));
        known = counted.emplace(std::pair(worker, steps[i]), std::move(window)).first;
      }
      windows.push_back(known->second);
    }
  }
  return windows;
}

Result<std::vector<OperatorKind>> operator_kinds(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::vector<OperatorKind> kinds;
  for (std::uint8_t i = 0; i < kKinds; ++i) names.emplace_back(name(static_cast<OperatorKind>(i)));
  for (const std::string& word : words) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("kinds: expected any of {}, found \"{}\"", fmt::join(names, ", "), printable(word)));
    }
    kinds.push_back(static_cast<OperatorKind>(found - names.begin()));
  }
  return kinds;
}

Result<CallColumns> read_call_columns(Trial& trial, const CallQuestion& question) {
  CallColumns columns;
  columns.worker = question.worker.empty() ? worker_with(trial, question.step) : question.worker;
  TRAINWARDEN_ASSIGN_OR_RETURN(OperatorBatch batch, trial.operators(columns.worker, question.step));
  columns.start_unix_ns = profile::span_of(batch).first_unix_ns;
  if (batch.calls.empty() && !batch.memory.empty()) columns.start_unix_ns = batch.memory.front().unix_ns;
  columns.lost_calls = batch.lost_calls;
  add_calls(batch, question, columns);
  add_changes(batch, columns);
  columns.names = std::move(batch.names);
  for (OperatorTrack& track : batch.tracks) columns.tracks.push_back(std::move(track.name));
  return columns;
}

Result<FlameAnswer> read_flame(Trial& trial, bool of_stacks, const std::string& worker) {
  const std::int64_t end_ns = system_clock().steady_ns() + std::chrono::nanoseconds(kFlamePatience).count();
  const std::vector<std::string> workers = worker.empty() ? trial.workers() : std::vector<std::string>{worker};
  profile::FlameTree tree;
  bool has_any = false;
  for (const std::string& each : workers) {
    for (const std::int64_t step : trial.operator_steps(each)) {
      if (has_any && system_clock().steady_ns() >= end_ns) break;
      auto batch = trial.operators(each, step);
      if (!batch.ok() && batch.status().code() == Code::kDataLoss) continue;
      if (!batch.ok()) return batch.status();
      std::erase_if(batch->calls, [&](const OperatorCall& call) { return is_stack(call.kind) != of_stacks; });
      if (batch->calls.empty()) continue;
      has_any = true;
      tree.add(*batch, workers.size() > 1 ? each : "");
    }
  }
  if (has_any) return rows_of(tree);
  return Status(Code::kNotFound, of_stacks ? "no stacks of Python were sampled" : "no operators were recorded");
}

}  // namespace trainwarden::views
