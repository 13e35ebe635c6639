#include "data/format/operators_record.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "data/format/columns.h"
#include "data/format/narrow_column.h"

namespace trainwarden::format {
namespace {

constexpr std::size_t kKinds = kOperatorKinds;

// A number that nobody here knows is kUnknown.
std::size_t known_kind(std::size_t kind) {
  return kind < kKinds ? kind : static_cast<std::size_t>(OperatorKind::kUnknown);
}

constexpr std::int64_t kLatestNs = std::numeric_limits<std::int64_t>::max();

std::int64_t kept_duration(const OperatorCall& call) {
  return std::max<std::int64_t>(call.duration_ns, 0);
}

// One frame's share of a batch.
struct Share {
  std::uint32_t part = 0;
  std::span<const OperatorCall> calls;
  std::span<const MemoryChange> memory;
};

template <class T>
std::span<const T> share_of(const std::vector<T>& all, std::size_t part) {
  const std::size_t begin = std::min(all.size(), part * kMaxCallsInFrame);
  return std::span<const T>(all).subspan(begin, std::min(all.size() - begin, kMaxCallsInFrame));
}

class OperatorEncoder {
 public:
  OperatorEncoder(const OperatorBatch& batch, const Share& share) : batch_(batch), share_(share) {}

  std::string encode() {
    columns_.add("part", std::vector<std::uint32_t>{share_.part});
    columns_.add("batch_calls", std::vector<std::uint64_t>{batch_.calls.size()});
    columns_.add("lost", std::vector<std::uint64_t>{share_.part == 0 ? batch_.lost_calls : 0});
    columns_.add("start", std::vector<std::int64_t>{first_ns()});
    if (!share_.calls.empty()) add_calls();
    if (!share_.memory.empty()) add_memory();
    return columns_.finish();
  }

 private:
  std::int64_t first_ns() const {
    std::int64_t first = kLatestNs;
    for (const OperatorCall& call : share_.calls) first = std::min(first, call.start_unix_ns);
    if (!share_.memory.empty()) first = std::min(first, share_.memory.front().unix_ns);
    return first == kLatestNs ? 0 : first;
  }

  void add_calls() {
    add_labels();
    add_tracks();
    add_times();
    add_sequences();
  }

  // Name and kind together are a label, since a name nearly always has one kind.
  void add_labels() {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> label_of(batch_.names.size() * kKinds, kNone);
    std::vector<std::uint64_t> labels;
    std::vector<std::size_t> used;  // name and kind of each label
    labels.reserve(share_.calls.size());
    for (const OperatorCall& call : share_.calls) {
      const std::size_t key = call.name * kKinds + known_kind(static_cast<std::size_t>(call.kind));
      if (label_of[key] == kNone) {
        label_of[key] = static_cast<std::uint32_t>(used.size());
        used.push_back(key);
      }
      labels.push_back(label_of[key]);
    }
    add_narrow(columns_, "label", labels);
    add_names(used);
  }

  void add_names(const std::vector<std::size_t>& labels) {
    std::vector<std::size_t> used;  // names, in the order of the batch
    for (const std::size_t label : labels) used.push_back(label / kKinds);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<std::uint32_t> label_names;
    std::vector<std::uint8_t> label_kinds;
    for (const std::size_t label : labels) {
      const auto name = std::lower_bound(used.begin(), used.end(), label / kKinds);
      label_names.push_back(static_cast<std::uint32_t>(name - used.begin()));
      label_kinds.push_back(static_cast<std::uint8_t>(label % kKinds));
    }
    columns_.add("label_name", label_names);
    columns_.add("label_kind", label_kinds);
    std::vector<std::string_view> names;
    for (const std::size_t name : used) names.emplace_back(batch_.names[name]);
    add_texts("name", names);
  }

  void add_texts(const std::string& column, const std::vector<std::string_view>& texts) {
    std::vector<std::uint16_t> lengths;
    std::vector<std::uint8_t> bytes;
    for (const std::string_view text : texts) {
      lengths.push_back(static_cast<std::uint16_t>(text.size()));
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
    columns_.add(column + "_length", lengths);
    columns_.add(column + "_text", bytes);
  }

  void add_tracks() {
    std::vector<std::string_view> names;
    std::vector<std::uint64_t> ids;
    std::vector<std::uint8_t> device;
    for (const OperatorTrack& track : batch_.tracks) {
      names.emplace_back(track.name);
      ids.push_back(track.id);
      device.push_back(track.device ? 1 : 0);
    }
    std::vector<std::uint32_t> calls(batch_.tracks.size());
    for (const OperatorCall& call : share_.calls) ++calls[call.track];
    add_texts("track", names);
    columns_.add("track_id", ids);
    columns_.add("track_device", device);
    columns_.add("track_calls", calls);
  }

  void add_times() {
    std::vector<std::uint64_t> starts;
    std::vector<std::uint64_t> durations;
    starts.reserve(share_.calls.size());
    durations.reserve(share_.calls.size());
    const std::int64_t first = first_ns();
    std::int64_t before = first;
    std::uint32_t track = 0;
    for (const OperatorCall& call : share_.calls) {
      if (std::exchange(track, call.track) != call.track) before = first;
      starts.push_back(static_cast<std::uint64_t>(call.start_unix_ns - before));
      durations.push_back(static_cast<std::uint64_t>(kept_duration(call)));
      before = call.start_unix_ns;
    }
    add_narrow(columns_, "start_delta", starts);
    add_narrow(columns_, "duration", durations);
  }

  void add_sequences() {
    std::int64_t lowest = kLatestNs;
    for (const OperatorCall& call : share_.calls) {
      if (call.sequence >= 0) lowest = std::min(lowest, call.sequence);
    }
    std::vector<std::uint64_t> sequences;
    sequences.reserve(share_.calls.size());
    for (const OperatorCall& call : share_.calls) {
      sequences.push_back(call.sequence < 0 ? 0 : static_cast<std::uint64_t>(call.sequence - lowest) + 1);
    }
    columns_.add("first_sequence", std::vector<std::int64_t>{lowest});
    add_narrow(columns_, "sequence", sequences);
  }

  void add_memory() {
    std::vector<std::uint64_t> times;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint64_t> totals;
    std::vector<std::int32_t> devices;
    std::int64_t before = first_ns();
    for (const MemoryChange& change : share_.memory) {
      times.push_back(static_cast<std::uint64_t>(change.unix_ns - std::exchange(before, change.unix_ns)));
      bytes.push_back(fold_sign(change.bytes));
      totals.push_back(fold_sign(change.total_bytes));
      devices.push_back(change.device);
    }
    columns_.add("memory_device", devices);
    add_narrow(columns_, "memory_delta", times);
    add_narrow(columns_, "memory_bytes", bytes);
    add_narrow(columns_, "memory_total", totals);
  }

  const OperatorBatch& batch_;
  const Share& share_;
  ColumnWriter columns_;
};

Status refused(std::string_view what) {
  return Status(Code::kInvalidArgument, fmt::format("operator calls: {}", what));
}

Status check_amount(std::string_view what, std::size_t found, std::size_t most) {
  return found <= most ? Status() : refused(fmt::format("{} {}, expected {} at most", found, what, most));
}

Status check_texts(const OperatorBatch& batch) {
  std::size_t total = 0;
  const auto add = [&](const std::string& text) {
    total += text.size();
    return check_amount("bytes in a name", text.size(), kMaxOperatorNameBytes);
  };
  for (const std::string& name : batch.names) TRAINWARDEN_RETURN_IF_ERROR(add(name));
  for (const OperatorTrack& track : batch.tracks) TRAINWARDEN_RETURN_IF_ERROR(add(track.name));
  return check_amount("bytes in all names", total, kMaxOperatorTextBytes);
}

bool in_order(const OperatorCall& before, const OperatorCall& call) {
  if (before.track != call.track) return before.track < call.track;
  if (before.start_unix_ns != call.start_unix_ns) return before.start_unix_ns < call.start_unix_ns;
  return kept_duration(before) >= kept_duration(call);
}

Status check_calls(const OperatorBatch& batch) {
  const OperatorCall* before = nullptr;
  for (const OperatorCall& call : batch.calls) {
    if (call.name >= batch.names.size()) return refused(fmt::format("name {} of {}", call.name, batch.names.size()));
    if (call.track >= batch.tracks.size())
      return refused(fmt::format("track {} of {}", call.track, batch.tracks.size()));
    if (call.start_unix_ns < 0 || kept_duration(call) > kLatestNs - call.start_unix_ns) {
      return refused(fmt::format("a call of {} ns from {} is not after 1970", call.duration_ns, call.start_unix_ns));
    }
    if (before != nullptr && !in_order(*before, call)) {
      return refused("they are not by track, then by start, longer first");
    }
    before = &call;
  }
  return Status();
}

Status check_memory(const OperatorBatch& batch) {
  std::int64_t before = 0;
  for (const MemoryChange& change : batch.memory) {
    if (change.unix_ns < before) return refused("the changes of memory are not by time, from 1970 on");
    before = change.unix_ns;
  }
  return Status();
}

Status damaged_operators(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("operator calls: {}", what));
}

// before + delta, when it is a time.
Result<std::int64_t> later(std::int64_t before, std::uint64_t delta) {
  if (delta <= static_cast<std::uint64_t>(kLatestNs - before)) return before + static_cast<std::int64_t>(delta);
  return damaged_operators("a time is out of range");
}

class OperatorDecoder {
 public:
  explicit OperatorDecoder(const ColumnReader& columns) : columns_(columns) {}

  Result<OperatorPart> decode() {
    TRAINWARDEN_RETURN_IF_ERROR(read_head());
    if (columns_.has("track_calls")) TRAINWARDEN_RETURN_IF_ERROR(read_calls());
    if (columns_.has("memory_device")) TRAINWARDEN_RETURN_IF_ERROR(read_memory());
    return std::move(part_);
  }

 private:
  Status read_head() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto part, columns_.view<std::uint32_t>("part", 1));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto calls, columns_.view<std::uint64_t>("batch_calls", 1));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto lost, columns_.view<std::uint64_t>("lost", 1));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto start, columns_.view<std::int64_t>("start", 1));
    part_.part = part[0];
    part_.batch_calls = calls[0];
    part_.batch.lost_calls = lost[0];
    first_ns_ = start[0];
    if (first_ns_ < 0 || part_.batch_calls > kMaxOperatorCalls) return damaged_operators("a head out of range");
    return Status();
  }

  Result<std::vector<std::string>> read_texts(const std::string& column, std::size_t most) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto lengths, columns_.view<std::uint16_t>(column + "_length"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto bytes, columns_.view<std::uint8_t>(column + "_text"));
    if (lengths.size() > most || bytes.size() > kMaxOperatorTextBytes) {
      return damaged_operators(fmt::format("{} texts of {} bytes", lengths.size(), bytes.size()));
    }
    const std::vector<std::uint8_t> all = bytes.to_vector();
    std::vector<std::string> texts;
    texts.reserve(lengths.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] > all.size() - at) return damaged_operators("texts that are longer than their bytes");
      texts.emplace_back(reinterpret_cast<const char*>(all.data()) + at, lengths[i]);
      at += lengths[i];
    }
    return at == all.size() ? Result(std::move(texts)) : damaged_operators("bytes behind the last text");
  }

  Status read_calls() {
    TRAINWARDEN_RETURN_IF_ERROR(read_tracks());
    TRAINWARDEN_RETURN_IF_ERROR(read_labels());
    TRAINWARDEN_RETURN_IF_ERROR(read_times());
    return read_sequences();
  }

  // With the calls themselves, which have nothing but their track yet.
  Status read_tracks() {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto names, read_texts("track", kMaxOperatorTracks));
    const std::size_t count = names.size();
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto ids, columns_.view<std::uint64_t>("track_id", count));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto device, columns_.view<std::uint8_t>("track_device", count));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto calls, columns_.view<std::uint32_t>("track_calls", count));
    for (std::size_t i = 0; i < count; ++i) {
      if (calls[i] > kMaxCallsInFrame - part_.batch.calls.size())
        return damaged_operators("more calls than a frame has");
      part_.batch.tracks.push_back({std::move(names[i]), ids[i], device[i] != 0});
      OperatorCall call;
      call.track = static_cast<std::uint32_t>(i);
      part_.batch.calls.resize(part_.batch.calls.size() + calls[i], call);
    }
    if (part_.batch.calls.size() > part_.batch_calls) return damaged_operators("more calls than the batch has");
    return Status();
  }

  Status read_labels() {
    TRAINWARDEN_ASSIGN_OR_RETURN(part_.batch.names, read_texts("name", kMaxOperatorNames));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, columns_.view<std::uint32_t>("label_name"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto kinds, columns_.view<std::uint8_t>("label_kind", names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] >= part_.batch.names.size()) return damaged_operators("a name that is not there");
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto labels, read_narrow(columns_, "label", part_.batch.calls.size()));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] >= names.size()) return damaged_operators("a label that is not there");
      part_.batch.calls[i].name = names[labels[i]];
      part_.batch.calls[i].kind = static_cast<OperatorKind>(known_kind(kinds[labels[i]]));
    }
    return Status();
  }

  Status read_times() {
    std::vector<OperatorCall>& calls = part_.batch.calls;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto starts, read_narrow(columns_, "start_delta", calls.size()));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto durations, read_narrow(columns_, "duration", calls.size()));
    std::int64_t before = first_ns_;
    std::uint32_t track = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (std::exchange(track, calls[i].track) != calls[i].track) before = first_ns_;
      TRAINWARDEN_ASSIGN_OR_RETURN(calls[i].start_unix_ns, later(before, starts[i]));
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t end, later(calls[i].start_unix_ns, durations[i]));
      calls[i].duration_ns = end - calls[i].start_unix_ns;
      before = calls[i].start_unix_ns;
    }
    return Status();
  }

  Status read_sequences() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto first, columns_.view<std::int64_t>("first_sequence", 1));
    if (first[0] < 0) return damaged_operators("a first sequence number below 0");
    std::vector<OperatorCall>& calls = part_.batch.calls;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto sequences, read_narrow(columns_, "sequence", calls.size()));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (sequences[i] == 0) continue;
      if (sequences[i] - 1 > static_cast<std::uint64_t>(kLatestNs - first[0])) {
        return damaged_operators("a sequence number is out of range");
      }
      calls[i].sequence = first[0] + static_cast<std::int64_t>(sequences[i] - 1);
    }
    return Status();
  }

  Status read_memory() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto devices, columns_.view<std::int32_t>("memory_device"));
    const std::size_t count = devices.size();
    if (count > kMaxCallsInFrame) return damaged_operators("more changes of memory than a frame has");
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto times, read_narrow(columns_, "memory_delta", count));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto bytes, read_narrow(columns_, "memory_bytes", count));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto totals, read_narrow(columns_, "memory_total", count));
    part_.batch.memory.reserve(count);
    std::int64_t before = first_ns_;
    for (std::size_t i = 0; i < count; ++i) {
      TRAINWARDEN_ASSIGN_OR_RETURN(before, later(before, times[i]));
      part_.batch.memory.push_back({before, unfold_sign(bytes[i]), unfold_sign(totals[i]), devices[i]});
    }
    return Status();
  }

  const ColumnReader& columns_;
  OperatorPart part_;
  std::int64_t first_ns_ = 0;
};

}  // namespace

Status check_operators(const OperatorBatch& batch) {
  TRAINWARDEN_RETURN_IF_ERROR(check_amount("calls", batch.calls.size(), kMaxOperatorCalls));
  TRAINWARDEN_RETURN_IF_ERROR(check_amount("changes of memory", batch.memory.size(), kMaxMemoryChanges));
  TRAINWARDEN_RETURN_IF_ERROR(check_amount("names", batch.names.size(), kMaxOperatorNames));
  TRAINWARDEN_RETURN_IF_ERROR(check_amount("tracks", batch.tracks.size(), kMaxOperatorTracks));
  TRAINWARDEN_RETURN_IF_ERROR(check_texts(batch));
  TRAINWARDEN_RETURN_IF_ERROR(check_calls(batch));
  return check_memory(batch);
}

std::vector<std::string> encode_operators(const OperatorBatch& batch) {
  std::vector<std::string> payloads;
  const std::size_t rows = std::max({batch.calls.size(), batch.memory.size(), std::size_t{batch.lost_calls > 0}});
  for (std::size_t part = 0; part * kMaxCallsInFrame < rows; ++part) {
    const Share share{static_cast<std::uint32_t>(part), share_of(batch.calls, part), share_of(batch.memory, part)};
    payloads.push_back(OperatorEncoder(batch, share).encode());
  }
  return payloads;
}

Result<OperatorPart> decode_operators(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  return OperatorDecoder(columns).decode();
}

}  // namespace trainwarden::format
