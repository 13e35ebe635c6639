#include "read/transfer/profiler_import.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "data/foreign/trace_events.h"
#include "read/transfer/gunzip.h"
#include "read/transfer/profiler_machines.h"
#include "read/transfer/profiler_timeline.h"
#include "read/transfer/recorded_clock.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"

namespace trainwarden::transfer {
namespace {

constexpr std::uint64_t kMaxTraceBytes = std::uint64_t{256} << 20;
constexpr int kMaxNodes = 4096;
constexpr std::int64_t kNsPerUs = 1000;
constexpr std::size_t kHorovodHead = std::size_t{1} << 20;  // bytes, within which the first operation begins
constexpr std::string_view kHorovodOperation = "\"NEGOTIATE_";

// Files of one node, of several kinds.
struct NodeFiles {
  std::vector<ProfilerFile> timelines;
  std::vector<ProfilerFile> traces;
};

struct NodeBefore {
  bool operator()(const std::string& a, const std::string& b) const {
    return node_before(a, b) || (!node_before(b, a) && a < b);
  }
};
template <class Files>
using ByNode = std::map<std::string, Files, NodeBefore>;

// Of a folder ".../plugins/profile/2020_08_05_13_37_44/...", the time that it is named by.
std::optional<std::int64_t> time_in_path(const std::string& path) {
  constexpr std::string_view kFolder = "plugins/profile/";
  const std::size_t at = path.find(kFolder);
  if (at == std::string::npos) return std::nullopt;
  const std::string name = path.substr(at + kFolder.size(), std::string_view("2020_08_05_13_37_44").size());
  if (name.size() < 19) return std::nullopt;
  return parse_rfc3339(fmt::format("{}-{}-{}T{}:{}:{}Z", name.substr(0, 4), name.substr(5, 2), name.substr(8, 2),
                                   name.substr(11, 2), name.substr(14, 2), name.substr(17, 2)));
}

// The time that a timeline's times are since, so that its last event ends when its name says.
std::int64_t start_by_name(const foreign::Trace& trace, const ProfilerFile& file) {
  if (file.order == std::numeric_limits<std::int64_t>::max()) return 0;
  std::int64_t last = 0;
  for (const foreign::TraceEvent& event : trace.events) last = std::max(last, event.start_ns + event.duration_ns);
  constexpr std::int64_t kLastUs = std::numeric_limits<std::int64_t>::max() / kNsPerUs;
  return std::max<std::int64_t>(0, std::min(file.order, kLastUs) * kNsPerUs - last);
}

class ProfilerImport {
 public:
  ProfilerImport(const storage::Storage& source, ProfilerFolder folder, std::map<std::string, std::string> labels,
                 storage::Storage& target)
      : source_(source), labels_(std::move(labels)), target_(target), folder_(std::move(folder)) {}

  Result<ImportReport> run() {
    TRAINWARDEN_RETURN_IF_ERROR(sort_by_node());
    TRAINWARDEN_RETURN_IF_ERROR(put_run());
    int number = 0;
    for (const auto& [node, files] : machines_) TRAINWARDEN_RETURN_IF_ERROR(add_machine(number++, files));
    int rank = 0;
    for (const auto& [node, files] : workers_) {
      report_.workers[node] = journal::worker_name(rank);
      TRAINWARDEN_RETURN_IF_ERROR(add_worker(rank++, node, files));
    }
    lose("statistics of cProfile and pyinstrument, which are not imported", folder_.python_profiles);
    if (report_.samples + report_.calls + report_.steps == 0) {
      return Status(Code::kNotFound, "nothing of it can be read");
    }
    report_.source_ended = folder_.ended;
    return std::move(report_);
  }

 private:
  Status sort_by_node() {
    for (const ProfilerFile& file : folder_.system) machines_[file.node].push_back(file);
    for (const ProfilerFile& file : folder_.timelines) workers_[file.node].timelines.push_back(file);
    for (const ProfilerFile& file : folder_.traces) workers_[file.node].traces.push_back(file);
    if (machines_.size() <= kMaxNodes && workers_.size() <= kMaxNodes) return {};
    return Status(Code::kResourceExhausted,
                  fmt::format("the profiler's folder has files of more than {} nodes", kMaxNodes));
  }

  // Before anything that is in it.
  std::int64_t beginning() const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& [node, files] : machines_) first = std::min(first, files.front().order * 1'000'000'000);
    for (const auto& [node, files] : workers_) {
      if (!files.timelines.empty()) {
        const auto text = source_.read(files.timelines.front().path, kMaxTraceBytes);
        const std::int64_t start = text.ok() ? foreign::read_trace(*text, 0).start_unix_us : 0;
        if (start > 0) first = std::min(first, start * kNsPerUs);
      }
      for (const ProfilerFile& trace : files.traces) {
        if (const auto start = start_of_trace(trace); start > 0) first = std::min(first, start);
      }
    }
    return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
  }

  Status put_run() {
    info_.id = journal::make_run_id();
    info_.created_unix_ns = beginning();
    info_.world_size = std::max(1, static_cast<int>(workers_.size()));
    info_.awaits_worker = workers_.empty();
    info_.labels = std::move(labels_);
    int number = 0;
    for (const auto& [node, files] : machines_) info_.labels["machine." + journal::machine_name(number++)] = node;
    number = 0;
    for (const auto& [node, files] : workers_) info_.labels["worker." + journal::worker_name(number++)] = node;
    report_.run_id = info_.id;
    clock_.set(info_.created_unix_ns);
    return journal::create_or_join_run(target_, info_).status();
  }

  Result<std::unique_ptr<journal::JournalWriter>> open_journal(const std::string& writer) {
    journal::JournalOptions options;
    options.writer = writer;
    options.writer_id = journal::writer_id_of(writer).value_or(0);
    options.pid = ::getpid();
    return journal::JournalWriter::open(target_, clock_, info_, std::move(options));
  }

  Status end_journal(journal::JournalWriter& journal) {
    if (folder_.ended) {
      TRAINWARDEN_RETURN_IF_ERROR(journal.append_event(format::FrameKind::kEvent, -1, format::encode_run_end({})));
    }
    return journal.seal();
  }

  Status add_machine(int number, const std::vector<ProfilerFile>& files) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto journal, open_journal(journal::machine_name(number)));
    TRAINWARDEN_ASSIGN_OR_RETURN(const MachineTally tally, import_machine(source_, files, *journal));
    report_.samples += tally.samples;
    lose("damaged lines of system metrics", tally.damaged_lines);
    lose("samples of more metrics than a machine has", tally.left_out);
    lose("files of system metrics that cannot be read", tally.unreadable_files);
    clock_.set(std::max(clock_.unix_ns(), tally.last_unix_ns));
    return end_journal(*journal);
  }

  static std::int64_t start_of_trace(const ProfilerFile& file) {
    if (file.begin_unix_us > 0) return file.begin_unix_us * kNsPerUs;
    return time_in_path(file.path).value_or(0);
  }

  void add_trace(NodeTimeline& node, const foreign::Trace& trace, const ProfilerFile& file, std::int64_t start) {
    lose("damaged events of timelines", trace.damaged);
    lose("beginnings and ends of events without their other half", trace.unpaired);
    lose("events beyond the limit of a node", trace.left_out);
    node.add(trace, file.timeline, start);
  }

  void read_timeline(NodeTimeline& node, const ProfilerFile& file) {
    const auto text = source_.read(file.path, kMaxTraceBytes);
    if (!text.ok()) return lose("timelines that cannot be read", 1);
    const foreign::Trace trace =
        foreign::read_trace(*text, kMaxTimelineEvents - std::min(kMaxTimelineEvents, node.event_count()));
    add_trace(node, trace, file, start_by_name(trace, file));
  }

  void read_tensorflow(NodeTimeline& node, ProfilerFile file) {
    const auto packed = source_.read(file.path, kMaxTraceBytes);
    const auto text = packed.ok() ? gunzip(*packed, kMaxTraceBytes) : packed;
    if (!text.ok()) return lose("traces of TensorFlow that cannot be read: " + text.status().message(), 1);
    if (file.begin_unix_us == 0) lose("traces of TensorFlow whose time is only known to a second", 1);
    file.timeline = foreign::SmdebugTimeline::kModel;
    const std::size_t room = kMaxTimelineEvents - std::min(kMaxTimelineEvents, node.event_count());
    add_trace(node, foreign::read_trace(*text, room), file, start_of_trace(file));
  }

  Status add_worker(int rank, const std::string& name, const NodeFiles& files) {
    NodeTimeline node;
    for (const ProfilerFile& file : files.timelines) read_timeline(node, file);
    for (const ProfilerFile& file : files.traces) read_tensorflow(node, file);
    lose(fmt::format("events of {} beyond the limit of a node", printable(name)), node.left_out());
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto journal, open_journal(journal::worker_name(rank)));
    std::map<std::string, std::uint32_t> scalars;
    for (const TimelineStep& step : node.steps()) {
      journal::StepBatch batch;
      batch.global_step = step.global_step;
      batch.mode = step.mode;
      batch.mode_step = step.mode_step;
      for (const auto& [phase, seconds] : step.phases) {
        const auto [known, added] = scalars.try_emplace(phase, static_cast<std::uint32_t>(scalars.size()));
        if (added) batch.new_names.push_back({known->second, phase, {"scalars"}});
        batch.scalars.push_back({known->second, seconds});
        ++report_.records;
      }
      clock_.set(step.end_unix_ns);
      if (!step.calls.calls.empty()) TRAINWARDEN_RETURN_IF_ERROR(journal->append_operators(step.calls));
      TRAINWARDEN_RETURN_IF_ERROR(journal->append_step(batch));
      ++report_.steps;
      report_.calls += step.calls.calls.size();
    }
    return end_journal(*journal);
  }

  void lose(const std::string& cause, std::uint64_t count) {
    if (count == 0) return;
    for (RunLoss& loss : report_.losses) {
      if (loss.cause != cause) continue;
      loss.count += count;
      return;
    }
    report_.losses.push_back({"the profiler's files", cause, count, 0, false});
  }

  const storage::Storage& source_;
  std::map<std::string, std::string> labels_;
  storage::Storage& target_;
  RecordedClock clock_;
  ProfilerFolder folder_;
  ByNode<std::vector<ProfilerFile>> machines_;
  ByNode<NodeFiles> workers_;
  journal::RunInfo info_;
  ImportReport report_;
};

}  // namespace

Result<ImportReport> import_profiler(const ProfilerPlace& source, std::map<std::string, std::string> labels,
                                     storage::Storage& target) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ProfilerFolder folder, list_profiler_folder(source.storage, source.root));
  auto report = ProfilerImport(source.storage, std::move(folder), std::move(labels), target).run();
  return report.ok() ? std::move(report) : report.status().with_context("the profiler's folder");
}

bool is_horovod_timeline(const storage::Storage& storage, const std::string& path) {
  const auto file = storage.open(path);
  std::string head(kHorovodHead, '\0');
  const auto bytes = file.ok() ? (*file)->read_at(0, std::as_writable_bytes(std::span(head))) : file.status();
  return bytes.ok() && std::string_view(head).substr(0, *bytes).find(kHorovodOperation) != std::string_view::npos;
}

Result<ImportReport> import_horovod_timeline(const storage::Storage& storage, const std::string& path,
                                             std::map<std::string, std::string> labels, storage::Storage& target) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::FileInfo info, storage.info(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, storage.read(path, kMaxTraceBytes));
  ProfilerFile timeline;
  timeline.path = path;
  timeline.node = path;
  timeline.order = info.changed_unix_ns / kNsPerUs;
  timeline.timeline = foreign::SmdebugTimeline::kHorovod;
  ProfilerFolder folder;
  folder.timelines.push_back(std::move(timeline));
  folder.ended = trim(text).ends_with(']');
  auto report = ProfilerImport(storage, std::move(folder), std::move(labels), target).run();
  if (report.status().code() != Code::kNotFound) return report;
  return Status(
      Code::kNotFound,
      fmt::format("{}: no operation of Horovod's has ended in it; import it again when one has", printable(path)));
}

}  // namespace trainwarden::transfer
