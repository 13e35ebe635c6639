// perfetto: the protobuf of Perfetto's viewer, in a quarter of the bytes of chrome-trace. Each track is a sequence of
// packets with names and a clock of its own: names are there once, times are differences.
// Source: the messages of perfetto.dev's trace format (protos/perfetto/trace).
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/protobuf_wire.h"
#include "read/profile/call_nesting.h"
#include "read/transfer/trace_writer.h"

namespace trainwarden::transfer {
namespace {

using foreign::WireWriter;

// Calls that overlap in part on one track take tracks beside it, at most so many.
constexpr std::size_t kMaxLanes = 64;

// Numbers of fields and values, by message.
namespace trace_field {
constexpr std::uint32_t kPacket = 1;
}
namespace packet_field {
constexpr std::uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kSequenceFlags = 13, kDefaults = 59, kTrackDescriptor = 60;
}
namespace defaults_field {
constexpr std::uint32_t kTrackEvent = 11, kClock = 58;
}
namespace clock_field {
constexpr std::uint32_t kClocks = 1, kId = 1, kTimestamp = 2, kIsIncremental = 3;
}
namespace track_field {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process_field {
constexpr std::uint32_t kPid = 1, kName = 6;
}
namespace thread_field {
constexpr std::uint32_t kPid = 1, kTid = 2, kName = 5;
}
namespace counter_field {
constexpr std::uint32_t kUnitName = 6;
}
namespace event_field {
constexpr std::uint32_t kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kNameText = 23,
                        kDoubleCounter = 44, kFlow = 47, kFlowEnd = 48;
}
namespace interned_field {
constexpr std::uint32_t kCategories = 1, kNames = 2, kId = 1, kText = 2;
}
namespace annotation_field {
constexpr std::uint32_t kUnsigned = 3, kText = 6, kName = 10;
}
constexpr std::int64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;  // types of track events
constexpr std::int64_t kCleared = 1, kNeedsState = 2;                     // flags of a sequence
constexpr std::int64_t kRealTime = 1, kBootTime = 6, kOwnClock = 64;      // clocks
// A viewer knows threads by number in all processes together.
constexpr std::int64_t kFirstTid = 1'000'000;

// A row that slices or values of a counter are on.
struct Row {
  std::int64_t uuid = 0;
  std::int64_t sequence = 0;                        // of its packets; 0: none yet
  std::int64_t unix_ns = 0;                         // of its last packet
  std::vector<std::int64_t> open_ends;              // of slices, the outermost first
  std::vector<bool> known_names, known_categories;  // to readers of its packets, by number
};

class PerfettoTrace final : public TraceWriter {
 public:
  explicit PerfettoTrace(TraceText& out) : out_(out) {}

  Status begin(std::int64_t, const std::string&) override { return {}; }

  Status add(const TraceStep& step, TraceReport& report) override {
    pid_ = step.worker_index + 1;
    name_process(step.worker);
    TRAINWARDEN_RETURN_IF_ERROR(add_step(step.batch));
    TRAINWARDEN_RETURN_IF_ERROR(add_calls(step.batch, report));
    TRAINWARDEN_RETURN_IF_ERROR(add_memory(step.batch));
    return add_metrics(step.metrics);
  }

  Status add_machine(const std::string& machine, std::uint32_t index,
                     const std::vector<TraceMetric>& metrics) override {
    pid_ = index + 1;
    name_process(machine);
    return add_metrics(metrics);
  }

  bool full() const override { return out_.full(); }
  bool wants_metrics() const override { return true; }

  // What is not in the trace is told in it, at its end.
  Status end(TraceReport& report) override {
    if (report.left_out_steps + report.left_out_calls + report.lost_calls == 0 || last_unix_ns_ == 0) return {};
    Row& row = named_row("trainwarden", std::nullopt);
    begin_packet(row, last_unix_ns_);
    event_.put(event_field::kType, kInstant);
    event_.put(event_field::kNameText,
               fmt::format("not in this trace: {} steps and {} calls that were left out, {} calls that were lost",
                           report.left_out_steps, report.left_out_calls, report.lost_calls));
    end_packet();
    return {};
  }

 private:
  using TrackKey = std::tuple<std::int64_t, std::string, std::uint64_t, bool>;  // process, name, number, device

  std::int64_t process_uuid() const { return pid_; }
  std::int64_t new_uuid() { return kFirstTid + ++rows_; }

  void put_packet(const WireWriter& packet) {
    WireWriter trace;
    trace.put_always(trace_field::kPacket, packet.text());
    out_.text += trace.text();
  }

  void put_descriptor(const WireWriter& descriptor) {
    WireWriter packet;
    packet.put_always(packet_field::kTrackDescriptor, descriptor.text());
    put_packet(packet);
  }

  void name_process(const std::string& worker) {
    if (!named_processes_.insert(pid_).second) return;
    WireWriter process, descriptor;
    process.put(process_field::kPid, pid_);
    process.put(process_field::kName, with_valid_utf8(worker));
    descriptor.put(track_field::kUuid, process_uuid());
    descriptor.put_always(track_field::kProcess, process.text());
    put_descriptor(descriptor);
  }

  // A row of the process that is no thread: for slices, or with a unit for a counter.
  Row& named_row(const std::string& name, std::optional<std::string_view> unit) {
    const auto [found, added] = rows_of_names_.try_emplace({pid_, name, unit.has_value()});
    Row& row = found->second;
    if (!added) return row;
    row.uuid = new_uuid();
    WireWriter descriptor;
    descriptor.put(track_field::kUuid, row.uuid);
    descriptor.put(track_field::kName, with_valid_utf8(name));
    descriptor.put(track_field::kParent, process_uuid());
    if (unit) {
      WireWriter counter;
      counter.put(counter_field::kUnitName, with_valid_utf8(*unit));
      descriptor.put_always(track_field::kCounter, counter.text());
    }
    put_descriptor(descriptor);
    return row;
  }

  // The rows of a track: the first is a thread, the others are beside it.
  std::vector<Row>& lanes_of(const OperatorTrack& track) {
    return lanes_[TrackKey(pid_, track.name, track.id, track.device)];
  }

  Row& add_lane(std::vector<Row>& lanes, const OperatorTrack& track) {
    Row& row = lanes.emplace_back();
    row.uuid = new_uuid();
    const std::string name = with_valid_utf8(track.name);
    WireWriter descriptor;
    descriptor.put(track_field::kUuid, row.uuid);
    descriptor.put(track_field::kParent, process_uuid());
    if (lanes.size() == 1) {
      WireWriter thread;
      thread.put(thread_field::kPid, pid_);
      thread.put(thread_field::kTid, row.uuid);
      thread.put(thread_field::kName, name);
      descriptor.put_always(track_field::kThread, thread.text());
    } else {
      descriptor.put(track_field::kName, fmt::format("{} ({})", name, lanes.size()));
    }
    put_descriptor(descriptor);
    return row;
  }

  // Times of a row are differences on a clock of its own, which is set anew where they would be negative.
  void set_clock(Row& row, std::int64_t unix_ns) {
    WireWriter snapshot;
    for (const std::int64_t id : {kBootTime, kRealTime, kOwnClock}) {
      WireWriter clock;
      clock.put(clock_field::kId, id);
      clock.put_always(clock_field::kTimestamp, unix_ns);
      clock.put(clock_field::kIsIncremental, std::int64_t{id == kOwnClock});
      snapshot.put_always(clock_field::kClocks, clock.text());
    }
    WireWriter packet;
    packet.put_always(packet_field::kClockSnapshot, snapshot.text());
    packet.put(packet_field::kSequence, row.sequence);
    if (row.unix_ns == 0) {
      WireWriter track, defaults;
      track.put(event_field::kTrack, row.uuid);
      defaults.put_always(defaults_field::kTrackEvent, track.text());
      defaults.put(defaults_field::kClock, kOwnClock);
      packet.put_always(packet_field::kDefaults, defaults.text());
      packet.put(packet_field::kSequenceFlags, kCleared | kNeedsState);
    }
    put_packet(packet);
    row.unix_ns = unix_ns;
  }

  // The event is filled in between begin_packet() and end_packet().
  void begin_packet(Row& row, std::int64_t unix_ns) {
    unix_ns = std::max<std::int64_t>(unix_ns, 1);
    if (row.sequence == 0) row.sequence = ++sequences_;
    if (row.unix_ns == 0 || unix_ns < row.unix_ns) set_clock(row, unix_ns);
    packet_.clear();
    event_.clear();
    packet_.put_always(packet_field::kTimestamp, unix_ns - row.unix_ns);
    packet_.put(packet_field::kSequence, row.sequence);
    packet_.put(packet_field::kSequenceFlags, kNeedsState);
    row.unix_ns = unix_ns;
    last_unix_ns_ = std::max(last_unix_ns_, unix_ns);
  }

  void end_packet() {
    packet_.put_always(packet_field::kTrackEvent, event_.text());
    framed_.clear();
    framed_.put_always(trace_field::kPacket, packet_.text());
    out_.text += framed_.text();
  }

  // A text that the row's readers do not know yet is told by this packet.
  void introduce(std::vector<bool>& known, std::size_t number, std::uint32_t field, std::string_view text) {
    if (known.size() <= number) known.resize(number + 1);
    if (known[number]) return;
    known[number] = true;
    WireWriter entry, interned;
    entry.put(interned_field::kId, static_cast<std::int64_t>(number));
    entry.put(interned_field::kText, with_valid_utf8(text));
    interned.put_always(field, entry.text());
    packet_.put_always(packet_field::kInterned, interned.text());
  }

  // The numbers of the batch's names, which are the same in all rows.
  std::vector<std::size_t> number_names(const OperatorBatch& batch) {
    std::vector<std::size_t> numbers;
    for (const std::string& name : batch.names) {
      numbers.push_back(
          numbers_of_names_.try_emplace(with_valid_utf8(name), numbers_of_names_.size() + 1).first->second);
    }
    return numbers;
  }

  void annotate(std::string_view name, std::string_view text) {
    WireWriter annotation;
    annotation.put(annotation_field::kText, text);
    annotation.put(annotation_field::kName, name);
    event_.put_always(event_field::kAnnotation, annotation.text());
  }

  void end_slice(Row& row) {
    begin_packet(row, row.open_ends.back());
    event_.put(event_field::kType, kEnd);
    end_packet();
    row.open_ends.pop_back();
  }

  Status add_step(const OperatorBatch& batch) {
    if (batch.calls.empty()) return {};
    const profile::CallSpan span = profile::span_of(batch);
    Row& row = named_row("steps", std::nullopt);
    begin_packet(row, span.first_unix_ns);
    event_.put(event_field::kType, kBegin);
    event_.put(event_field::kNameText, fmt::format("step {}", batch.global_step));
    annotate("mode", trainwarden::name(batch.mode));
    if (batch.lost_calls > 0) annotate("lost calls", fmt::format("{}", batch.lost_calls));
    end_packet();
    row.open_ends.push_back(span.last_unix_ns);
    end_slice(row);
    return out_.pass_on_when_large();
  }

  // From the last forward call of a sequence number, which is the innermost, to the first backward call: the number of
  // an arrow, by the index of its call.
  std::unordered_map<std::size_t, std::uint64_t> find_flows(const OperatorBatch& batch) {
    std::unordered_map<std::int64_t, std::size_t> forward;
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
      const OperatorCall& call = batch.calls[i];
      if (call.sequence >= 0 && call.kind == OperatorKind::kOperator) forward[call.sequence] = i;
    }
    std::unordered_map<std::size_t, std::uint64_t> flows;
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
      const OperatorCall& call = batch.calls[i];
      if (call.sequence < 0 || call.kind != OperatorKind::kBackward) continue;
      const auto found = forward.find(call.sequence);
      if (found == forward.end()) continue;
      flows[found->second] = flows[i] = ++flows_;
      forward.erase(found);
    }
    return flows;
  }

  // Where the call lies within what is open, or nothing is open. nullptr: no row has room for it.
  Row* row_for(std::vector<Row>& lanes, const OperatorTrack& track, std::int64_t start, std::int64_t end) {
    for (Row& row : lanes) {
      while (!row.open_ends.empty() && row.open_ends.back() <= start) end_slice(row);
      if (row.open_ends.empty() || end <= row.open_ends.back()) return &row;
    }
    return lanes.size() < kMaxLanes ? &add_lane(lanes, track) : nullptr;
  }

  Status add_calls(const OperatorBatch& batch, TraceReport& report) {
    const auto flows = find_flows(batch);
    const std::vector<std::size_t> numbers = number_names(batch);
    std::vector<std::vector<Row>*> lanes;
    for (const OperatorTrack& track : batch.tracks) lanes.push_back(&lanes_of(track));
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
      const OperatorCall& call = batch.calls[i];
      if (out_.full(batch.names[call.name].size())) {
        report.left_out_calls += batch.calls.size() - i;
        break;
      }
      const std::int64_t end = profile::end_ns(call);
      Row* const row = row_for(*lanes[call.track], batch.tracks[call.track], call.start_unix_ns, end);
      if (row == nullptr) {
        ++report.left_out_calls;
        continue;
      }
      const auto flow = flows.find(i);
      begin_call(*row, call, numbers[call.name], batch.names[call.name], flow == flows.end() ? 0 : flow->second);
      row->open_ends.push_back(end);
      ++report.calls;
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    for (std::vector<Row>* const rows : lanes) {
      for (Row& row : *rows) {
        while (!row.open_ends.empty()) end_slice(row);
      }
    }
    return out_.pass_on_when_large();
  }

  void begin_call(Row& row, const OperatorCall& call, std::size_t number, const std::string& name, std::uint64_t flow) {
    begin_packet(row, call.start_unix_ns);
    const auto kind = static_cast<std::size_t>(call.kind) + 1;  // 0 is no number of a text
    introduce(row.known_categories, kind, interned_field::kCategories, trainwarden::name(call.kind));
    introduce(row.known_names, number, interned_field::kNames, name);
    event_.put(event_field::kType, kBegin);
    event_.put(event_field::kCategory, static_cast<std::int64_t>(kind));
    event_.put(event_field::kName, static_cast<std::int64_t>(number));
    if (flow != 0) {
      event_.put_fixed64(call.kind == OperatorKind::kBackward ? event_field::kFlowEnd : event_field::kFlow, flow);
    }
    end_packet();
  }

  void add_value(Row& row, std::int64_t unix_ns, double value) {
    begin_packet(row, unix_ns);
    event_.put(event_field::kType, kCounter);
    event_.put_fixed64(event_field::kDoubleCounter, std::bit_cast<std::uint64_t>(value));
    end_packet();
  }

  Status add_memory(const OperatorBatch& batch) {
    for (const MemoryChange& change : batch.memory) {
      if (out_.full()) return {};
      const std::string name =
          change.device < 0 ? "memory of the host" : fmt::format("memory of device {}", change.device);
      add_value(named_row(name, "bytes"), change.unix_ns, static_cast<double>(change.total_bytes));
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    return {};
  }

  Status add_metrics(const std::vector<TraceMetric>& metrics) {
    for (const auto& [metric, samples] : metrics) {
      Row& row = named_row(metric.instance.empty() ? metric.name : metric.name + " " + metric.instance, metric.unit);
      for (const Sample& sample : samples) {
        if (out_.full()) return {};
        if (std::isfinite(sample.value)) add_value(row, sample.unix_ns, sample.value);
        TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
      }
    }
    return {};
  }

  TraceText& out_;
  std::int64_t pid_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t sequences_ = 0;
  std::int64_t last_unix_ns_ = 0;
  std::uint64_t flows_ = 0;
  std::set<std::int64_t> named_processes_;
  std::map<std::tuple<std::int64_t, std::string, bool>, Row> rows_of_names_;  // process, name, is it a counter
  std::unordered_map<std::string, std::size_t> numbers_of_names_;
  std::map<TrackKey, std::vector<Row>> lanes_;
  WireWriter packet_, event_, framed_;  // of the packet that is being written
};

}  // namespace

std::unique_ptr<TraceWriter> make_perfetto_trace(TraceText& out) {
  return std::make_unique<PerfettoTrace>(out);
}

}  // namespace trainwarden::transfer
