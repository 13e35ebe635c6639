// chrome-trace: JSON of trace events, which the browsers' viewers of traces read. Times are microseconds with three
// decimals since `baseTimeNanoseconds`, as a float64 has no room for nanoseconds since 1970.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "read/profile/call_nesting.h"
#include "read/transfer/number_text.h"
#include "read/transfer/trace_writer.h"

namespace trainwarden::transfer {
namespace {

constexpr std::size_t kKindsInTrace = kOperatorKinds;

// Nanoseconds as microseconds: "-1.002".
void append_microseconds(std::string& out, std::int64_t ns) {
  const auto amount = ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  if (ns < 0) out += '-';
  append_integer(out, static_cast<std::int64_t>(amount / 1000));
  const auto rest = static_cast<unsigned>(amount % 1000);
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  out.append(decimals, sizeof decimals);
}

class ChromeTrace final : public TraceWriter {
 public:
  explicit ChromeTrace(TraceText& out) : out_(out) {}

  Status begin(std::int64_t first_unix_ns, const std::string& run_id) override {
    first_unix_ns_ = first_unix_ns;
    out_.text += fmt::format("{{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":{},\"run\":{},\"traceEvents\":[\n",
                             first_unix_ns, json_text(run_id));
    out_.text += R"({"ph":"M","pid":0,"name":"trace","args":{"recorder":"trainwarden"}})";
    return {};
  }

  Status add(const TraceStep& step, TraceReport& report) override {
    pid_ = step.worker_index;
    if (named_processes_.insert(pid_).second) {
      name_process(step.worker);
      name_thread(0, "steps");
    }
    const std::vector<std::uint32_t> tids = name_threads(step.batch);
    add_step(step.batch);
    TRAINWARDEN_RETURN_IF_ERROR(add_calls(step.batch, tids, report));
    TRAINWARDEN_RETURN_IF_ERROR(add_flows(step.batch, tids));
    TRAINWARDEN_RETURN_IF_ERROR(add_memory(step.batch));
    return add_metrics(step.metrics);
  }

  Status add_machine(const std::string& machine, std::uint32_t index,
                     const std::vector<TraceMetric>& metrics) override {
    pid_ = index;
    if (named_processes_.insert(pid_).second) name_process(machine);
    return add_metrics(metrics);
  }

  bool full() const override { return out_.full(); }
  bool wants_metrics() const override { return true; }

  Status end(TraceReport& report) override {
    out_.text += fmt::format(
        "\n],\"otherData\":{{\"steps\":\"{}\",\"calls\":\"{}\",\"left_out_steps\":\"{}\",\"left_out_calls\":\"{}\","
        "\"lost_calls\":\"{}\"}}}}\n",
        report.steps, report.calls, report.left_out_steps, report.left_out_calls, report.lost_calls);
    return {};
  }

 private:
  using TrackKey = std::tuple<std::uint32_t, std::string, std::uint64_t, bool>;  // with the process

  // ,{"ph":"X","pid":0,"tid":1,"ts":12.345
  void begin_event(std::string_view phase, std::uint32_t tid, std::int64_t unix_ns) {
    begin_event(phase, tid);
    out_.text += ",\"ts\":";
    append_microseconds(out_.text, unix_ns - first_unix_ns_);
  }
  void begin_event(std::string_view phase, std::uint32_t tid) {
    out_.text += ",\n{\"ph\":\"";
    out_.text += phase;
    out_.text += "\",\"pid\":";
    append_integer(out_.text, pid_);
    out_.text += ",\"tid\":";
    append_integer(out_.text, tid);
  }

  void name_process(const std::string& worker) {
    begin_event("M", 0);
    out_.text += fmt::format(R"(,"name":"process_name","args":{{"name":{}}}}})", json_text(worker));
    begin_event("M", 0);
    out_.text += fmt::format(R"(,"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid_);
  }

  void name_thread(std::uint32_t tid, const std::string& thread) {
    begin_event("M", tid);
    out_.text += fmt::format(R"(,"name":"thread_name","args":{{"name":{}}}}})", json_text(thread));
    begin_event("M", tid);
    out_.text += fmt::format(R"(,"name":"thread_sort_index","args":{{"sort_index":{}}}}})", tid);
  }

  // A track keeps its number from step to step.
  std::vector<std::uint32_t> name_threads(const OperatorBatch& batch) {
    std::vector<std::uint32_t> tids;
    for (const OperatorTrack& track : batch.tracks) {
      const TrackKey key(pid_, track.name, track.id, track.device);
      const auto [known, added] = tids_.try_emplace(key, static_cast<std::uint32_t>(tids_.size()) + 1);
      if (added) name_thread(known->second, track.name);
      tids.push_back(known->second);
    }
    return tids;
  }

  void add_step(const OperatorBatch& batch) {
    const profile::CallSpan span = profile::span_of(batch);
    begin_event("X", 0, batch.calls.empty() ? first_unix_ns_ : span.first_unix_ns);
    out_.text += ",\"dur\":";
    append_microseconds(out_.text, span.duration_ns());
    out_.text += fmt::format(R"(,"name":"step {}","cat":"step","args":{{"mode":"{}","lost_calls":{}}}}})",
                             batch.global_step, trainwarden::name(batch.mode), batch.lost_calls);
  }

  Status add_calls(const OperatorBatch& batch, const std::vector<std::uint32_t>& tids, TraceReport& report) {
    std::vector<std::string> labels(batch.names.size() * kKindsInTrace);  // name and kind as JSON
    std::vector<std::string> begins;                                      // of each track
    for (const std::uint32_t tid : tids) {
      begins.push_back(fmt::format(",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":", pid_, tid));
    }
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
      if (out_.full()) {
        report.left_out_calls += batch.calls.size() - i;
        return {};
      }
      const OperatorCall& call = batch.calls[i];
      std::string& label = labels[call.name * kKindsInTrace + static_cast<std::size_t>(call.kind)];
      if (label.empty()) {
        label =
            fmt::format(R"(,"name":{},"cat":"{}")", json_text(batch.names[call.name]), trainwarden::name(call.kind));
      }
      out_.text += begins[call.track];
      append_microseconds(out_.text, call.start_unix_ns - first_unix_ns_);
      out_.text += ",\"dur\":";
      append_microseconds(out_.text, profile::end_ns(call) - call.start_unix_ns);
      out_.text += label;
      if (call.sequence >= 0) {
        out_.text += ",\"args\":{\"sequence\":";
        append_integer(out_.text, call.sequence);
        out_.text += '}';
      }
      out_.text += '}';
      ++report.calls;
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    return {};
  }

  // From the last forward call of a sequence number, which is the innermost, to the first backward call.
  Status add_flows(const OperatorBatch& batch, const std::vector<std::uint32_t>& tids) {
    std::unordered_map<std::int64_t, const OperatorCall*> forward;
    for (const OperatorCall& call : batch.calls) {
      if (call.sequence >= 0 && call.kind == OperatorKind::kOperator) forward[call.sequence] = &call;
    }
    for (const OperatorCall& call : batch.calls) {
      if (call.sequence < 0 || call.kind != OperatorKind::kBackward) continue;
      const auto found = forward.find(call.sequence);
      if (found == forward.end()) continue;
      if (out_.full()) return {};
      add_flow_end("s", *found->second, tids);
      add_flow_end("f", call, tids);
      ++flows_;
      forward.erase(found);
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    return {};
  }

  void add_flow_end(std::string_view phase, const OperatorCall& call, const std::vector<std::uint32_t>& tids) {
    begin_event(phase, tids[call.track], call.start_unix_ns);
    out_.text += fmt::format(R"(,"id":{},"name":"forward to backward","cat":"fwdbwd"{}}})", flows_,
                             phase == "f" ? R"(,"bp":"e")" : "");
  }

  Status add_memory(const OperatorBatch& batch) {
    for (const MemoryChange& change : batch.memory) {
      if (out_.full()) return {};
      begin_event("C", 0, change.unix_ns);
      out_.text += change.device < 0 ? R"(,"name":"memory of the host")"
                                     : fmt::format(R"(,"name":"memory of device {}")", change.device);
      out_.text += fmt::format(R"(,"args":{{"bytes":{}}}}})", change.total_bytes);
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    return {};
  }

  Status add_metrics(const std::vector<TraceMetric>& metrics) {
    for (const auto& [metric, samples] : metrics) {
      const std::string label = json_text(metric.instance.empty() ? metric.name : metric.name + " " + metric.instance);
      const std::string unit = json_text(metric.unit.empty() ? "value" : metric.unit);
      for (const Sample& sample : samples) {
        if (out_.full()) return {};
        if (!std::isfinite(sample.value)) continue;  // which JSON does not have
        begin_event("C", 0, sample.unix_ns);
        out_.text += fmt::format(R"(,"name":{},"args":{{{}:)", label, unit);
        append_number(out_.text, sample.value, kJsonNumbers);
        out_.text += "}}";
        TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
      }
    }
    return {};
  }

  TraceText& out_;
  std::int64_t first_unix_ns_ = 0;
  std::uint32_t pid_ = 0;
  std::set<std::uint32_t> named_processes_;
  std::map<TrackKey, std::uint32_t> tids_;
  std::uint64_t flows_ = 0;
};

}  // namespace

std::unique_ptr<TraceWriter> make_chrome_trace(TraceText& out) {
  return std::make_unique<ChromeTrace>(out);
}

}  // namespace trainwarden::transfer
