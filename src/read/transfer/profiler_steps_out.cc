#include "read/transfer/profiler_steps_out.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/smdebug_profile_layout.h"
#include "data/format/json.h"
#include "read/trial/tensor_series.h"
#include "read/trial/trial_access.h"
#include "read/trial/worker_journal.h"

namespace trainwarden::transfer {
namespace {

constexpr std::string_view kPhasePrefix = "phase/";
constexpr std::size_t kMaxTimelineFileBytes = 10 << 20;  // as smdebug's own
constexpr std::int64_t kMaxFileSpanUs = 60'000'000;      // the same
constexpr std::int64_t kUs = 1000;
constexpr double kUsPerSecond = 1e6;
constexpr std::chrono::hours kPatience{24};  // all of it is wanted, in one piece

// In the order in which they come in a step, with what smdebug calls those that it has.
struct PhasePlace {
  std::string_view phase, process, name;
};
constexpr std::array kPhases = {
    PhasePlace{"capture", "capture", "capture"},
    PhasePlace{"evaluation", "evaluation", "evaluation"},
    PhasePlace{"checkpoint", "checkpoint", "checkpoint"},
    PhasePlace{"data_start", "DataLoaderIterInitialize", "DataLoaderIterInitialize"},
    PhasePlace{"data_wait", "DataLoaderIter", "DataLoaderIter::GetNext"},
    PhasePlace{"zero_grad", "zero_grad", "zero_grad"},
    PhasePlace{"forward", "Forward-node", "Forward-node"},
    PhasePlace{"loss", "loss", "loss"},
    PhasePlace{"backward", "Backward(post-forward)-node", "Backward(post-forward)-node"},
    PhasePlace{"gradient_sync", "gradient_sync", "gradient_sync"},
    PhasePlace{"clip", "clip", "clip"},
    PhasePlace{"optimizer", "optimizer", "optimizer"},
};

std::string as_json(std::string_view text) {
  return format::dump_json(with_valid_utf8(text));
}

struct OutgoingEvent {
  std::string process;
  std::string name;
  std::int64_t start_us = 0;
  std::int64_t duration_us = 0;
  std::uint32_t thread = 0;
  std::int64_t end_us() const { return start_us + duration_us; }
};

// Writes events that come by their ends, and begins a file anew as smdebug does.
class TimelineFile {
 public:
  TimelineFile(const std::filesystem::path& out, std::string node, std::int64_t start_us, OutputTally& tally)
      : out_(out), node_(std::move(node)), start_us_(start_us), tally_(tally) {}

  Status add(const OutgoingEvent& event, std::int64_t step, int rank) {
    const bool is_full = text_.size() > kMaxTimelineFileBytes || event.end_us() - first_end_us_ > kMaxFileSpanUs;
    if (!text_.empty() && is_full) TRAINWARDEN_RETURN_IF_ERROR(close());
    if (text_.empty()) begin(event.end_us());
    const std::size_t phase = phase_of(event.process);
    text_ += fmt::format(
        R"(,{}{{"name":{},"pid":{},"ph":"X","ts":{},"dur":{},"tid":{},"args":{{"pid":{},"step_num":"{}"}}}})", "\n",
        as_json(event.name), phase, event.start_us - start_us_, event.duration_us, event.thread, rank, step);
    last_end_us_ = std::max(last_end_us_, event.end_us());
    return {};
  }

  Status close() {
    if (text_.empty()) return {};
    text_ += "\n]\n";
    const std::string path = foreign::smdebug_timeline_file(last_end_us_, node_, foreign::SmdebugTimeline::kPython);
    const Status status = write_file(out_ / path, text_, tally_);
    text_.clear();
    phases_.clear();
    return status;
  }

 private:
  void begin(std::int64_t end_us) {
    first_end_us_ = last_end_us_ = end_us;
    text_ = fmt::format(
        "[\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{{\"start_time_since_epoch_in_micros\":{}}}}}",
        start_us_);
  }

  std::size_t phase_of(const std::string& process) {
    const auto [known, added] = phases_.try_emplace(process, phases_.size() + 1);
    if (added) {
      text_ += fmt::format(
          ",\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{0},\"args\":{{\"name\":{1}}}}}"
          ",\n{{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":{0},\"args\":{{\"sort_index\":{0}}}}}",
          known->second, as_json(process));
    }
    return known->second;
  }

  const std::filesystem::path& out_;
  const std::string node_;
  const std::int64_t start_us_;
  OutputTally& tally_;
  std::string text_;
  std::map<std::string, std::size_t> phases_;
  std::int64_t first_end_us_ = 0;
  std::int64_t last_end_us_ = 0;
};

// Phases of the steps of a worker, in microseconds.
using StepPhases = std::map<std::int64_t, std::map<std::string, double>>;

class WorkerTimeline {
 public:
  WorkerTimeline(Trial& trial, trial::WorkerJournal& journal, int rank, ProfilerExportReport& report)
      : trial_(trial), journal_(journal), rank_(rank), report_(report) {}

  Status write(TimelineFile& file) {
    TRAINWARDEN_RETURN_IF_ERROR(read_phases());
    const std::vector<std::int64_t> with_calls = trial_.operator_steps(journal_.name());
    for (const std::int64_t step : trial_.steps(Mode::kGlobal, /*include_incomplete=*/true)) {
      const auto index = journal_.step_index(step);
      if (!index) continue;
      events_.clear();
      const bool has_calls = std::binary_search(with_calls.begin(), with_calls.end(), step);
      if (has_calls) TRAINWARDEN_RETURN_IF_ERROR(add_calls(step));
      const journal::StepEntry entry = journal_.reader().steps()[*index];
      if (!add_step(entry, journal_.reader().unix_ns(*index)) && !has_calls) {
        ++report_.steps_without_times;
        continue;
      }
      std::stable_sort(events_.begin(), events_.end(),
                       [](const OutgoingEvent& a, const OutgoingEvent& b) { return a.end_us() < b.end_us(); });
      for (const OutgoingEvent& event : events_) {
        TRAINWARDEN_RETURN_IF_ERROR(file.add(event, entry.mode_step, rank_));
      }
    }
    return file.close();
  }

 private:
  Status read_phases() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, trial_.tensor_names({.include = {"^phase/"}}));
    for (const std::string& name : names) {
      const trial::CatalogTensor* const tensor = TrialAccess::catalog(trial_).find(name);
      const auto index = tensor == nullptr ? std::nullopt : journal_.tensor(*tensor);
      if (!index) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(
          const trial::SeriesPart part,
          trial::read_series(journal_, *index, {}, 0, std::numeric_limits<std::int64_t>::max(), kPatience));
      for (const trial::SeriesPoint& point : part.points) {
        phases_[point.global_step][name.substr(kPhasePrefix.size())] = point.value * kUsPerSecond;
      }
      report_.damaged_steps += part.unreadable;
    }
    return {};
  }

  // False when it is not known how long the step was.
  bool add_step(const journal::StepEntry& entry, std::int64_t end_unix_ns) {
    const auto found = phases_.find(entry.global_step);
    if (found == phases_.end()) return false;
    const std::map<std::string, double>& phases = found->second;
    auto whole = phases.find("step");
    if (whole == phases.end()) whole = phases.find("start");
    if (whole == phases.end() || !(whole->second >= 0)) return false;
    OutgoingEvent step;
    step.process = step.name = fmt::format("Step:ModeKeys.{}", upper_name(entry.mode));
    step.duration_us = static_cast<std::int64_t>(whole->second);
    step.start_us = end_unix_ns / kUs - step.duration_us;
    ++report_.steps;
    // How long they are is known and where they lie is not: they follow each other in the order of a step.
    double at = static_cast<double>(step.start_us);
    for (const PhasePlace& place : kPhases) {
      const auto phase = phases.find(std::string(place.phase));
      if (phase == phases.end() || !(phase->second > 0)) continue;
      events_.push_back({std::string(place.process), std::string(place.name), static_cast<std::int64_t>(at),
                         static_cast<std::int64_t>(phase->second), 0});
      at += phase->second;
    }
    events_.push_back(std::move(step));
    return true;
  }

  static std::string upper_name(Mode mode) {
    std::string text(trainwarden::name(mode));
    for (char& one : text) one = static_cast<char>(one >= 'a' && one <= 'z' ? one - 'a' + 'A' : one);
    return text;
  }

  Status add_calls(std::int64_t step) {
    const auto batch = trial_.operators(journal_.name(), step);
    if (batch.status().code() == Code::kDataLoss) {
      ++report_.damaged_steps;
      return {};
    }
    if (!batch.ok()) return batch.status();
    std::map<std::uint32_t, std::string> processes;
    for (const OperatorCall& call : batch->calls) {
      const OperatorTrack& track = batch->tracks[call.track];
      std::string& process = processes[call.track];
      if (process.empty()) process = track.device ? "gpu_functions-dev:" + device_of(track.name) : "cpu_functions";
      events_.push_back({process, batch->names[call.name], call.start_unix_ns / kUs,
                         std::max<std::int64_t>(0, call.duration_ns / kUs), call.track + 1});
    }
    report_.calls += batch->calls.size();
    report_.lost_calls += batch->lost_calls;
    return {};
  }

  // "0" of "GPU-0 stream 7".
  static std::string device_of(std::string_view track) {
    const std::size_t first = track.find_first_of("0123456789");
    if (first == std::string_view::npos) return "0";
    const std::size_t end = track.find_first_not_of("0123456789", first);
    return std::string(track.substr(first, end == std::string_view::npos ? end : end - first));
  }

  Trial& trial_;
  trial::WorkerJournal& journal_;
  const int rank_;
  ProfilerExportReport& report_;
  StepPhases phases_;
  std::vector<OutgoingEvent> events_;
};

Status check_workers(const Trial& trial, const std::vector<std::string>& wanted) {
  const std::vector<std::string> workers = trial.workers();
  for (const std::string& one : wanted) {
    if (std::find(workers.begin(), workers.end(), one) != workers.end()) continue;
    return Status(Code::kNotFound,
                  fmt::format("the run has no worker {}{}", printable(one), did_you_mean(one, workers)));
  }
  return {};
}

}  // namespace

Status write_timelines(Trial& trial, const ProfilerExportOptions& options, OutputTally& tally,
                       ProfilerExportReport& report) {
  TRAINWARDEN_RETURN_IF_ERROR(check_workers(trial, options.workers));
  const journal::RunInfo& info = TrialAccess::run_info(trial);
  const std::string host = foreign::smdebug_node(info.host.empty() ? "host" : info.host);
  int rank = -1;
  for (trial::WorkerJournal* const journal : TrialAccess::journals(trial)) {
    ++rank;
    const auto& wanted = options.workers;
    if (!journal->readable()) continue;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), journal->name()) == wanted.end()) continue;
    TimelineFile file(options.out, fmt::format("{}-{}", rank, host), trial.created_unix_ns() / kUs, tally);
    TRAINWARDEN_RETURN_IF_ERROR(WorkerTimeline(trial, *journal, rank, report).write(file));
  }
  return {};
}

}  // namespace trainwarden::transfer
