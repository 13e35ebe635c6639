#include "read/transfer/kineto_import.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/kineto_trace.h"
#include "data/format/run_event.h"
#include "read/transfer/kineto_steps.h"
#include "read/transfer/recorded_clock.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"
#include "store/storage/system_error.h"
#include "trainwarden/version.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;
using foreign::KinetoEvent;

// Times before it are not of the calendar: such a trace has a clock of its own.
constexpr std::int64_t kEarliestNs = 946'684'800'000'000'000;       // the year 2000
constexpr std::int64_t kLatestStartNs = 8'000'000'000'000'000'000;  // with a duration it still fits

// A file as text, decompressed where it is compressed.
class TraceFile {
 public:
  static Result<std::unique_ptr<TraceFile>> open(const fs::path& file) {
    gzFile opened = ::gzopen(file.c_str(), "rbe");
    if (opened == nullptr) return storage::system_error(errno, "open", file.string());
    return std::unique_ptr<TraceFile>(new TraceFile(opened));
  }
  ~TraceFile() { ::gzclose(file_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  Result<std::size_t> read(std::span<char> space) {
    const int bytes = ::gzread(file_, space.data(), static_cast<unsigned>(space.size()));
    if (bytes < 0) return Status(Code::kDataLoss, "the compressed trace is damaged or cut");
    bytes_ += static_cast<std::uint64_t>(bytes);
    if (bytes_ > kMaxKinetoBytes) return Status(Code::kResourceExhausted, "the trace has more than 4 GiB of text");
    return static_cast<std::size_t>(bytes);
  }

 private:
  explicit TraceFile(gzFile file) : file_(file) {}
  const gzFile file_;
  std::uint64_t bytes_ = 0;
};

// What of a trace's events is kept.
class TraceContents {
 public:
  Status add(const KinetoEvent& event) {
    if (event.start_ns > kLatestStartNs || event.start_ns < -kLatestStartNs || event.duration_ns > kLatestStartNs)
      return {};
    return event.is_instant ? add_memory(event) : add_call(event);
  }

  KinetoCalls& calls() { return calls_; }
  std::vector<MemoryChange>& memory() { return memory_; }
  std::uint64_t left_out() const { return left_out_; }  // for want of a name or track

  // Moves all times. False: they would be none then.
  bool shift(std::int64_t ns) {
    const auto fits = [ns](std::int64_t at) {
      return at <= kLatestStartNs - std::max<std::int64_t>(ns, 0) && at + ns >= 0;
    };
    for (const OperatorCall& call : calls_.calls) {
      if (!fits(call.start_unix_ns)) return false;
    }
    for (OperatorCall& call : calls_.calls) call.start_unix_ns += ns;
    std::erase_if(memory_, [&](const MemoryChange& change) { return !fits(change.unix_ns); });
    for (MemoryChange& change : memory_) change.unix_ns += ns;
    return true;
  }

 private:
  Status add_call(const KinetoEvent& event) {
    const OperatorKind kind = kineto_kind(event.category, event.name);
    if (kind == OperatorKind::kUnknown) return {};
    if (calls_.calls.size() == kMaxKinetoCalls) {
      return Status(Code::kResourceExhausted,
                    fmt::format("the trace has more than {} calls; record fewer steps in one trace", kMaxKinetoCalls));
    }
    const auto name = index_of(event.name.substr(0, kMaxOperatorNameBytes), names_, kMaxOperatorNames);
    const auto track = track_of(event, kind);
    if (!name || !track) {
      ++left_out_;
      return {};
    }
    if (*name == calls_.names.size()) calls_.names.push_back(event.name.substr(0, kMaxOperatorNameBytes));
    calls_.calls.push_back({.name = *name,
                            .track = *track,
                            .kind = kind,
                            .start_unix_ns = event.start_ns,
                            .duration_ns = event.duration_ns,
                            .sequence = event.sequence.value_or(-1)});
    return {};
  }

  // The device's own totals; what the profiler did not say is not made up.
  Status add_memory(const KinetoEvent& event) {
    if (event.name != "[memory]" || !event.bytes || !event.total_allocated) return {};
    if (memory_.size() == kMaxKinetoCalls) {
      return Status(Code::kResourceExhausted,
                    fmt::format("the trace has more than {} changes of memory", kMaxKinetoCalls));
    }
    const bool is_host = event.device_type.value_or(0) == 0 || event.device.value_or(-1) < 0;
    memory_.push_back(
        {.unix_ns = event.start_ns,
         .bytes = *event.bytes,
         .total_bytes = *event.total_allocated,
         .device = is_host ? -1 : static_cast<std::int32_t>(std::min<std::int64_t>(*event.device, 4095))});
    return {};
  }

  static std::optional<std::uint32_t> index_of(const std::string& text,
                                               std::unordered_map<std::string, std::uint32_t>& known,
                                               std::size_t most) {
    const auto found = known.find(text);
    if (found != known.end()) return found->second;
    if (known.size() == most) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(known.size());
    known.emplace(text, index);
    return index;
  }

  std::optional<std::uint32_t> track_of(const KinetoEvent& event, OperatorKind kind) {
    const bool device = kind == OperatorKind::kKernel || kind == OperatorKind::kCopy;
    std::string name;
    std::int64_t id = 0;
    if (device) {
      id = event.stream.value_or(0);
      name = fmt::format("GPU-{} stream {}", event.device.value_or(0), id);
    } else {
      id = parse_int(event.thread).value_or(0);
      name = fmt::format("{} {}", kind == OperatorKind::kPythonStack ? "python thread" : "thread", event.thread);
      name.resize(std::min<std::size_t>(name.size(), 512));
    }
    const auto track = index_of(name, tracks_, kMaxOperatorTracks);
    if (track && *track == calls_.tracks.size()) {
      calls_.tracks.push_back(
          {.name = name, .id = static_cast<std::uint64_t>(std::max<std::int64_t>(id, 0)), .device = device});
    }
    return track;
  }

  KinetoCalls calls_;
  std::vector<MemoryChange> memory_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<std::string, std::uint32_t> tracks_;
  std::uint64_t left_out_ = 0;
};

// Names that a batch has no calls of are left out of it.
OperatorBatch batch_of(const KinetoCalls& trace, std::vector<OperatorCall> calls) {
  OperatorBatch batch;
  batch.mode = Mode::kTrain;
  std::unordered_map<std::uint32_t, std::uint32_t> names, tracks;
  const auto place = [](auto& known, std::uint32_t index, const auto& from, auto& to) {
    const auto [found, added] = known.try_emplace(index, static_cast<std::uint32_t>(to.size()));
    if (added) to.push_back(from[index]);
    return found->second;
  };
  for (OperatorCall& call : calls) {
    call.name = place(names, call.name, trace.names, batch.names);
    call.track = place(tracks, call.track, trace.tracks, batch.tracks);
  }
  batch.calls = std::move(calls);
  std::stable_sort(batch.calls.begin(), batch.calls.end(), [](const OperatorCall& a, const OperatorCall& b) {
    return std::tie(a.track, a.start_unix_ns, b.duration_ns) < std::tie(b.track, b.start_unix_ns, a.duration_ns);
  });
  return batch;
}

// Writes steps with their phases as scalars, and their calls.
class RunFromTrace {
 public:
  RunFromTrace(storage::Storage& storage, const journal::RunInfo& info) : storage_(storage), info_(info) {}

  Status write(TraceContents& contents, const DividedTrace& divided) {
    clock_.set(info_.created_unix_ns);
    journal::JournalOptions options;
    options.writer = journal::worker_name(0);
    options.collections = {Collection{.name = "scalars", .include = {"^phase"}}};
    options.pid = ::getpid();
    TRAINWARDEN_ASSIGN_OR_RETURN(writer_, journal::JournalWriter::open(storage_, clock_, info_, std::move(options)));
    auto memory = contents.memory().begin();
    std::size_t at = 0;
    const std::vector<OperatorCall>& calls = contents.calls().calls;
    for (std::size_t i = 0; i < divided.steps.size(); ++i) {
      const bool is_last = i + 1 == divided.steps.size();
      const KinetoStep& step = divided.steps[i];
      while (at < calls.size() && calls[at].start_unix_ns < step.start_ns) ++at;
      while (memory != contents.memory().end() && memory->unix_ns < step.start_ns) ++memory;
      std::vector<OperatorCall> own;
      for (; at < calls.size() && (is_last || calls[at].start_unix_ns < step.end_ns); ++at) {
        // What devices still do for the last step is behind its end.
        const bool is_own = calls[at].start_unix_ns < step.end_ns || contents.calls().tracks[calls[at].track].device;
        if (is_own) own.push_back(calls[at]);
      }
      OperatorBatch batch = batch_of(contents.calls(), std::move(own));
      for (; memory != contents.memory().end() && memory->unix_ns < step.end_ns; ++memory)
        batch.memory.push_back(*memory);
      batch.global_step = step.number;
      TRAINWARDEN_RETURN_IF_ERROR(write_step(step, static_cast<std::int64_t>(i), batch));
    }
    const std::string end = format::encode_run_end({});
    TRAINWARDEN_RETURN_IF_ERROR(writer_->append_event(format::FrameKind::kEvent, -1, end));
    return writer_->seal();
  }

  std::uint64_t records() const { return records_; }

 private:
  Status write_step(const KinetoStep& step, std::int64_t index, const OperatorBatch& batch) {
    journal::StepBatch written{.global_step = step.number, .mode = Mode::kTrain, .mode_step = index};
    if (!step.phases.empty()) {
      const double seconds = static_cast<double>(step.end_ns - step.start_ns) / 1e9;
      for (const auto& [phase, spent] : step.phases) add(written, "phase/" + phase, spent);
      add(written, "phase/step", seconds);
      const auto waited = step.phases.find("data_wait");
      waited_ += waited == step.phases.end() ? 0 : waited->second;
      wall_ += seconds;
      add(written, "phase_total/data_wait", waited_);
      add(written, "phase_total/wall", wall_);
      add(written, "phase_total/steps", static_cast<double>(index + 1));
    }
    clock_.set(step.end_ns);
    TRAINWARDEN_RETURN_IF_ERROR(writer_->append_operators(batch));
    records_ += written.scalars.size() + batch.calls.size() + batch.memory.size();
    return writer_->append_step(written);
  }

  void add(journal::StepBatch& step, const std::string& name, double value) {
    const auto [number, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size()));
    if (added) step.new_names.push_back({number->second, name, {}});
    step.scalars.push_back({number->second, value});
  }

  storage::Storage& storage_;
  const journal::RunInfo& info_;
  RecordedClock clock_;
  std::unique_ptr<journal::JournalWriter> writer_;
  std::map<std::string, std::uint32_t> numbers_;
  double waited_ = 0;
  double wall_ = 0;
  std::uint64_t records_ = 0;
};

std::int64_t file_time_ns(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  if (error) return kEarliestNs;
  const auto system = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return std::max<std::int64_t>(kEarliestNs, std::chrono::duration_cast<std::chrono::nanoseconds>(system).count());
}

// Where the trace's clock is not the calendar's, it ends when its file was written.
Status place_in_time(const fs::path& file, const foreign::KinetoTrace& trace, TraceContents& contents,
                     std::map<std::string, std::string>& labels) {
  const Status bad(Code::kDataLoss, "no trace of PyTorch's profiler: its times are no times");
  if (trace.base_ns < 0 || trace.base_ns > kLatestStartNs || !contents.shift(trace.base_ns)) return bad;
  std::int64_t first = kLatestStartNs, last = 0;
  for (const OperatorCall& call : contents.calls().calls) {
    first = std::min(first, call.start_unix_ns);
    last = std::max(last, call.start_unix_ns);
  }
  if (first >= kEarliestNs) return {};
  labels["times"] = "end when the trace's file was written: its own clock is not the calendar's";
  return contents.shift(file_time_ns(file) - last) ? Status() : bad;
}

std::string_view text_of_marks(StepMarks marks) {
  switch (marks) {
    case StepMarks::kProfilerSteps: return "by ProfilerStep";
    case StepMarks::kBatches: return "by the wait for a batch";
    case StepMarks::kNone: return "not marked: all is one step";
  }
  return "";
}

}  // namespace

Result<ImportReport> import_kineto_trace(const fs::path& file, const fs::path& folder, const std::string& origin) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto text, TraceFile::open(file));
  TraceContents contents;
  const auto trace = foreign::read_kineto_trace([&](std::span<char> space) { return text->read(space); },
                                                [&](const KinetoEvent& event) { return contents.add(event); });
  if (!trace.ok()) return trace.status().with_context(printable(file.string()));
  if (contents.calls().calls.empty()) {
    return Status(Code::kDataLoss, fmt::format("{}: the trace has no calls", printable(file.string())));
  }
  journal::RunInfo info;
  info.id = journal::make_run_id();
  info.labels = {
      {"recorder", "kineto"}, {"imported_from", origin}, {"imported_by", fmt::format("trainwarden {}", version())}};
  if (trace->rank) info.labels["trace.rank"] = std::to_string(*trace->rank);
  TRAINWARDEN_RETURN_IF_ERROR(
      place_in_time(file, *trace, contents, info.labels).with_context(printable(file.string())));
  std::sort(contents.memory().begin(), contents.memory().end(),
            [](const MemoryChange& a, const MemoryChange& b) { return a.unix_ns < b.unix_ns; });
  const DividedTrace divided = divide_trace(contents.calls());
  info.labels["steps"] = text_of_marks(divided.marks);
  info.created_unix_ns = divided.steps.front().start_ns;
  const auto storage = storage::open_local_storage(folder);
  TRAINWARDEN_RETURN_IF_ERROR(journal::create_or_join_run(*storage, info).status());
  RunFromTrace run(*storage, info);
  TRAINWARDEN_RETURN_IF_ERROR(run.write(contents, divided));
  ImportReport report{.run_id = info.id,
                      .workers = {{"the traced process", journal::worker_name(0)}},
                      .steps = divided.steps.size(),
                      .records = run.records(),
                      .source_ended = true,
                      .losses = {}};
  if (contents.left_out() > 0)
    report.losses.push_back({"the trace", "calls whose name or thread found no room", contents.left_out(), 0, false});
  return report;
}

}  // namespace trainwarden::transfer
