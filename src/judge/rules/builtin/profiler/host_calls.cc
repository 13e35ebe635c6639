#include "judge/rules/builtin/profiler/host_calls.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/rules/builtin/profiler/recorded_calls.h"
#include "read/profile/call_nesting.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kRunGapNs = 1'000'000;      // reads that are further apart belong to no run
constexpr std::int64_t kLongOperatorNs = 100'000;  // is work of its own, within a run too
constexpr std::size_t kFewestInRun = 8;
constexpr std::size_t kMostBetween = 8;  // operators from one read to the next: more are work, as of an agent that acts
constexpr std::int64_t kTinyNs = 10'000;
constexpr std::int64_t kShortGapNs = 50'000;
constexpr std::string_view kScalarRead = "aten::_local_scalar_dense";
constexpr std::string_view kItem = "aten::item";
constexpr std::string_view kUnbind = "aten::unbind";  // a loop over a tensor begins so
constexpr std::string_view kOptimizerScope = "Optimizer.step#";
constexpr std::string_view kToHost = "DtoH";

bool is_on_host(const OperatorBatch& batch, const OperatorCall& call) {
  return call.track < batch.tracks.size() && !batch.tracks[call.track].device;
}

std::string_view name_of(const OperatorBatch& batch, const OperatorCall& call) {
  return call.name < batch.names.size() ? std::string_view(batch.names[call.name]) : std::string_view();
}

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// What recording a call took, at most: aten::item does nothing itself but to call what reads, which was recorded too.
std::int64_t recording_ns(const OperatorBatch& batch) {
  std::vector<std::int64_t> own;
  const OperatorCall* item = nullptr;
  for (const std::size_t i : profile::calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    const std::string_view name = name_of(batch, call);
    const bool is_in_item =
        item != nullptr && item->track == call.track && profile::end_ns(call) <= profile::end_ns(*item);
    if (name == kScalarRead && is_in_item) {
      own.push_back(profile::end_ns(*item) - item->start_unix_ns - (profile::end_ns(call) - call.start_unix_ns));
    }
    item = name == kItem ? &call : nullptr;
  }
  if (own.empty()) return kRecordingNs;
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
  std::nth_element(own.begin(), middle, own.end());
  return std::min(kRecordingNs, *middle);
}

// A run of reads on one thread, while it lasts.
struct ReadRun {
  std::size_t reads = 0;
  std::size_t between = 0;  // operators since its last read
  std::int64_t first_ns = 0, last_ns = 0;
  std::int64_t long_ns = 0;       // of long operators since its begin
  std::int64_t long_at_last = 0;  // of these, before its last read
  std::int64_t recording_ns = 0, recording_at_last = 0;
  std::int64_t unbind_ns = 0;  // start of what the tensor was taken apart with before its first read; 0: it was not

  void end(ScalarReads& found) {
    if (reads >= kFewestInRun) {
      const std::int64_t recorded = std::max<std::int64_t>(0, last_ns - first_ns - long_at_last);
      const auto count = static_cast<std::int64_t>(reads);
      found.reads_in_runs += reads;
      // What leads to the first read is as long as to the others.
      found.runs_ns += std::max<std::int64_t>(0, recorded - recording_at_last) * count / (count - 1);
      found.recorded_runs_ns += recorded * count / (count - 1);
    }
    *this = {};
  }
  // What lies between it and the reads belongs to them.
  void unbind(const OperatorCall& call, std::int64_t recording) {
    if (reads > 0 || (unbind_ns > 0 && call.start_unix_ns - last_ns <= kRunGapNs)) {
      last_ns = profile::end_ns(call);
      return;
    }
    unbind_ns = call.start_unix_ns;
    last_ns = profile::end_ns(call);
    long_ns = 0;
    recording_ns = recording;
  }
  void add(const OperatorCall& call, ScalarReads& found) {
    if (reads > 0 && (call.start_unix_ns - last_ns > kRunGapNs || between > kMostBetween)) end(found);
    if (reads++ == 0) {
      const bool is_unbound = unbind_ns > 0 && call.start_unix_ns - last_ns <= kRunGapNs;
      first_ns = is_unbound ? unbind_ns : call.start_unix_ns;
      if (!is_unbound) long_ns = recording_ns = 0;
    }
    last_ns = profile::end_ns(call);
    between = 0;
    long_at_last = long_ns;
    recording_at_last = recording_ns;
  }
};

}  // namespace

ScalarReads scalar_reads(const OperatorBatch& batch) {
  ScalarReads found;
  const std::int64_t recording = recording_ns(batch);
  ReadRun run;
  std::uint32_t track = std::numeric_limits<std::uint32_t>::max();
  std::int64_t optimizer_until = 0, outer_until = 0;
  for (const std::size_t i : profile::calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    if (!is_on_host(batch, call)) continue;
    if (call.track != track) {
      run.end(found);
      track = call.track;
      optimizer_until = outer_until = std::numeric_limits<std::int64_t>::min();
    }
    run.recording_ns += recording;
    const std::string_view name = name_of(batch, call);
    if (call.kind == OperatorKind::kUser && begins_with(name, kOptimizerScope)) {
      optimizer_until = std::max(optimizer_until, profile::end_ns(call));
    }
    if (call.kind != OperatorKind::kOperator) continue;
    if (name == kScalarRead) {
      if (call.start_unix_ns < optimizer_until) continue;
      ++found.reads;
      found.waited_ns += profile::end_ns(call) - call.start_unix_ns;
      run.add(call, found);
    }
    if (call.start_unix_ns < outer_until) continue;  // part of what was counted
    outer_until = profile::end_ns(call);
    const std::int64_t took = outer_until - call.start_unix_ns;
    if (name == kUnbind) {
      run.unbind(call, recording);
      continue;
    }
    if (name != kItem && name != kScalarRead) ++run.between;
    if (took >= kLongOperatorNs && name != kItem && name != kScalarRead) run.long_ns += took;
  }
  run.end(found);
  return found;
}

TinyOperators tiny_operators(const OperatorBatch& batch) {
  TinyOperators found;
  std::uint32_t track = std::numeric_limits<std::uint32_t>::max();
  std::int64_t outer_until = 0;
  std::int64_t own_ns = 0;
  for (const std::size_t i : profile::calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    if (!is_on_host(batch, call) || call.kind != OperatorKind::kOperator) continue;
    if (call.track != track) {
      track = call.track;
      outer_until = 0;
    }
    if (call.start_unix_ns < outer_until) continue;
    const std::int64_t gap = outer_until == 0 ? 0 : call.start_unix_ns - outer_until;
    outer_until = profile::end_ns(call);
    const std::int64_t took = outer_until - call.start_unix_ns;
    ++found.operators;
    if (took >= kTinyNs) continue;
    ++found.tiny;
    own_ns += took;
    found.tiny_ns += took + (gap <= kShortGapNs ? gap : 0);
  }
  found.tiny_ns = std::max<std::int64_t>(0, found.tiny_ns - static_cast<std::int64_t>(found.tiny) * kRecordingNs);
  if (found.tiny > 0) found.mean_tiny_ns = static_cast<double>(own_ns) / static_cast<double>(found.tiny);
  return found;
}

DeviceCalls device_calls(const OperatorBatch& batch) {
  DeviceCalls found;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  std::vector<std::int64_t> read_ends;
  for (const OperatorCall& call : batch.calls) {
    const std::string_view name = name_of(batch, call);
    if (is_on_host(batch, call)) {
      if (call.kind == OperatorKind::kOperator && name == kScalarRead) read_ends.push_back(profile::end_ns(call));
      continue;
    }
    if (call.kind != OperatorKind::kKernel && call.kind != OperatorKind::kCopy) continue;
    found.has_device = true;
    spans.emplace_back(call.start_unix_ns, profile::end_ns(call));
    if (call.kind == OperatorKind::kKernel) {
      ++found.kernels;
      found.kernels_ns += profile::end_ns(call) - call.start_unix_ns;
    } else if (name.find(kToHost) != std::string_view::npos) {
      ++found.copies_to_host;
      read_ends.push_back(profile::end_ns(call));
    }
  }
  std::sort(spans.begin(), spans.end());
  std::sort(read_ends.begin(), read_ends.end());
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  auto read = read_ends.begin();
  for (const auto& [start, end] : spans) {
    if (until != std::numeric_limits<std::int64_t>::min() && start > until) {
      // The gap is a read's when one ended in it, or just before.
      while (read != read_ends.end() && *read < until) ++read;
      if (read != read_ends.end() && *read <= start) found.idle_after_reads_ns += start - until;
    }
    if (end <= until) continue;
    found.busy_ns += end - std::max(start, until);
    until = end;
  }
  return found;
}

}  // namespace trainwarden::rules
