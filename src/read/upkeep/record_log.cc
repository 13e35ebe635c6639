#include "read/upkeep/record_log.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/trial_access.h"

namespace trainwarden::upkeep {
namespace {

using journal::Record;
using journal::RecordForm;

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kSampleWindowNs = 60 * kSecondNs;  // whose samples are in memory together

constexpr std::array<std::string_view, kLogKinds> kKindNames = {"step",   "tensor",  "event",    "verdict",
                                                                "action", "samples", "operators"};

LogKind kind_of_event(format::FrameKind kind) {
  if (kind == format::FrameKind::kVerdict) return LogKind::kVerdict;
  return kind == format::FrameKind::kAction ? LogKind::kAction : LogKind::kEvent;
}

bool is_unreadable(const Status& status) {
  return status.code() == Code::kDataLoss || status.code() == Code::kResourceExhausted ||
         status.code() == Code::kUnimplemented;
}

template <class Item>
bool is_earlier(const Item& a, const Item& b) {
  return std::tuple(a.unix_ns, a.order) < std::tuple(b.unix_ns, b.order);
}

}  // namespace

std::string_view name(LogKind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}

std::optional<LogKind> parse_log_kind(std::string_view text) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == text) return static_cast<LogKind>(i);
  }
  return std::nullopt;
}

// What a visit is at: how many lines are still to be passed over.
struct RecordLog::Walk {
  const LogVisitor& visit;
  std::uint64_t skip = 0;

  bool passes_over() {
    if (skip == 0) return false;
    --skip;
    return true;
  }
};

Result<std::unique_ptr<RecordLog>> RecordLog::open(const storage::Location& run, const LogFilter& filter) {
  return no_throw([&]() -> Result<std::unique_ptr<RecordLog>> {
    std::unique_ptr<RecordLog> log(new RecordLog(run, filter));
    for (const std::string& pattern : filter.tensors) {
      TRAINWARDEN_ASSIGN_OR_RETURN(Regex regex, Regex::compile(pattern));
      log->patterns_.push_back(std::move(regex));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(log->trial_, TrialAccess::open(run));
    log->is_foreign_ = log->trial_->recorder() != "trainwarden";
    log->info_ = TrialAccess::run_info(*log->trial_);
    TRAINWARDEN_RETURN_IF_ERROR(log->refresh());
    TRAINWARDEN_RETURN_IF_ERROR(log->check_journals());
    return log;
  });
}

Status RecordLog::check_journals() const {
  std::vector<std::string> names;
  for (const auto& journal : journals_) names.push_back(journal->name);
  for (const std::string& wanted : filter_.journals) {
    const auto there = [&](const auto& journal) { return journal->name == wanted; };
    if (std::any_of(journals_.begin(), journals_.end(), there)) continue;
    return Status(Code::kNotFound, fmt::format("the run has no journal {}{}; it has {}", printable(wanted),
                                               did_you_mean(wanted, names), fmt::join(names, ", ")));
  }
  return {};
}

bool RecordLog::wants(LogKind kind) const {
  if (!filter_.kinds.empty()) {
    return std::find(filter_.kinds.begin(), filter_.kinds.end(), kind) != filter_.kinds.end();
  }
  return patterns_.empty() || kind == LogKind::kTensor;
}

bool RecordLog::wants_step(std::int64_t step) const {
  const bool is_narrowed = filter_.first_step != kAlways || filter_.end_step != kEver;
  if (step < 0) return !is_narrowed;
  return step >= filter_.first_step && step < filter_.end_step;
}

bool RecordLog::wants_tensor(std::string_view name) const {
  if (patterns_.empty()) return true;
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Regex& each) { return each.found_in(name); });
}

// A run of another recorder's has the journals of its workers alone, which the trial reads.
Status RecordLog::find_journals() {
  const auto is_known = [&](std::string_view name) {
    return std::any_of(journals_.begin(), journals_.end(), [&](const auto& each) { return each->name == name; });
  };
  if (is_foreign_) {
    for (trial::WorkerJournal* const worker : TrialAccess::journals(*trial_)) {
      if (!worker->readable() || is_known(worker->name())) continue;
      auto& journal = *journals_.emplace_back(std::make_unique<LogJournal>());
      journal.name = worker->name();
      journal.reader = &worker->reader();
    }
    return {};
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(run_.storage()));
  for (const std::string& writer : writers) {
    if (is_known(writer)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(auto reader, journal::JournalReader::open(run_.storage(), info_, writer, {}));
    auto& journal = *journals_.emplace_back(std::make_unique<LogJournal>());
    journal.name = writer;
    journal.own = std::move(reader);
    journal.reader = journal.own.get();
  }
  return {};
}

Status RecordLog::refresh() {
  return no_throw([&]() -> Status {
    // The trial first: what its state says to have ended has then been written.
    TRAINWARDEN_RETURN_IF_ERROR(trial_->refresh());
    TRAINWARDEN_RETURN_IF_ERROR(find_journals());
    new_items_.clear();
    for (std::uint32_t i = 0; i < journals_.size(); ++i) {
      LogJournal& journal = *journals_[i];
      if (journal.own != nullptr) TRAINWARDEN_RETURN_IF_ERROR(journal.own->refresh());
      const auto& only = filter_.journals;
      if (!only.empty() && std::find(only.begin(), only.end(), journal.name) == only.end()) continue;
      TRAINWARDEN_RETURN_IF_ERROR(take_new(i));
    }
    std::stable_sort(new_items_.begin(), new_items_.end(), is_earlier<LogItem>);
    const auto middle = static_cast<std::ptrdiff_t>(items_.size());
    items_.insert(items_.end(), new_items_.begin(), new_items_.end());
    std::inplace_merge(items_.begin(), items_.begin() + middle, items_.end(), is_earlier<LogItem>);
    return {};
  });
}

Status RecordLog::take_new(std::uint32_t index) {
  LogJournal& journal = *journals_[index];
  journal::JournalReader& reader = *journal.reader;
  const auto add = [&](std::int64_t unix_ns, LogKind kind, std::size_t place) {
    new_items_.push_back({unix_ns, index, kind, place, next_order_++});
  };
  if (wants(LogKind::kStep) || wants(LogKind::kTensor)) {
    for (; journal.steps_seen < reader.steps().size(); ++journal.steps_seen) {
      if (!wants_step(reader.steps()[journal.steps_seen].global_step)) continue;
      add(reader.unix_ns(journal.steps_seen), LogKind::kStep, journal.steps_seen);
    }
  }
  if (wants(LogKind::kEvent) || wants(LogKind::kVerdict) || wants(LogKind::kAction)) {
    const std::size_t seen = journal.events.size();
    TRAINWARDEN_RETURN_IF_ERROR(reader.visit_events(seen, [&](std::size_t place, const journal::EventEntry& event) {
      if (place >= journal.events.size()) journal.events.resize(place + 1);
      if (!wants(kind_of_event(event.kind)) || !wants_step(event.step)) return;
      journal.events[place] = event;
      add(event.unix_ns, kind_of_event(event.kind), place);
    }));
    journal.events.resize(std::max(journal.events.size(), reader.event_count()));
  }
  if (wants(LogKind::kOperators)) {
    std::vector<std::int64_t> steps = reader.operator_steps();
    std::map<std::int64_t, std::int64_t> times;  // of steps that are ended
    for (std::size_t i = 0; i < reader.steps().size() && steps != journal.operator_steps_seen; ++i) {
      times[reader.steps()[i].global_step] = reader.unix_ns(i);
    }
    for (const std::int64_t step : steps) {
      const auto& seen = journal.operator_steps_seen;
      if (!wants_step(step) || std::binary_search(seen.begin(), seen.end(), step)) continue;
      const auto time = times.find(step);
      add(time == times.end() ? 0 : time->second, LogKind::kOperators, static_cast<std::size_t>(step));
    }
    journal.operator_steps_seen = std::move(steps);
  }
  journal.frames_before = journal.frames_seen;
  journal.frames_seen = reader.sample_frames();
  return {};
}

Status RecordLog::visit_all(const LogVisitor& visit) {
  return no_throw([&] { return visit_from(kAlways, 0, visit); });
}

// Looks back further and further until there are enough.
Status RecordLog::visit_last(std::uint64_t count, const LogVisitor& visit) {
  return no_throw([&]() -> Status {
    if (count == 0) return {};
    std::int64_t newest = items_.empty() ? kAlways : items_.back().unix_ns;
    for (const auto& journal : journals_) {
      if (!wants(LogKind::kSamples) || !wants_step(-1)) break;
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto times, journal->reader->sample_times());
      if (times) newest = std::max(newest, times->last_unix_ns);
    }
    if (newest == kAlways) return {};
    for (std::int64_t span = kSecondNs;; span *= 4) {
      const bool is_all = span > std::numeric_limits<std::int64_t>::max() / 8 || newest - span <= 0;
      const std::int64_t from = is_all ? kAlways : newest - span;
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t found, count_from(from));
      if (found >= count) return visit_from(from, found - count, visit);
      if (is_all) return visit_from(from, 0, visit);
    }
  });
}

Status RecordLog::visit_new(const LogVisitor& visit) {
  return no_throw([&]() -> Status {
    std::vector<LogTick> ticks;
    if (wants(LogKind::kSamples) && wants_step(-1)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(ticks, ticks_in(kAlways, kEver, /*only_new=*/true));
    }
    Walk walk{visit, 0};
    return emit(new_items_, std::move(ticks), walk);
  });
}

Status RecordLog::visit_from(std::int64_t from, std::uint64_t skip, const LogVisitor& visit) {
  Walk walk{visit, skip};
  auto item = std::lower_bound(items_.begin(), items_.end(), from,
                               [](const LogItem& each, std::int64_t time) { return each.unix_ns < time; });
  for (std::int64_t time = from;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<std::int64_t> sample, next_sample(time));
    const std::int64_t first = sample.value_or(kEver);
    std::vector<LogItem> before;
    for (; item != items_.end() && (!sample || item->unix_ns < first); ++item) before.push_back(*item);
    TRAINWARDEN_RETURN_IF_ERROR(emit(std::move(before), {}, walk));
    if (!sample) return {};
    const std::int64_t end = first > kEver - kSampleWindowNs ? kEver : first + kSampleWindowNs;
    TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<LogTick> ticks, ticks_in(first, end, /*only_new=*/false));
    std::vector<LogItem> within;
    for (; item != items_.end() && item->unix_ns < end; ++item) within.push_back(*item);
    TRAINWARDEN_RETURN_IF_ERROR(emit(std::move(within), std::move(ticks), walk));
    time = end;
  }
}

Result<std::optional<std::int64_t>> RecordLog::next_sample(std::int64_t from) {
  std::optional<std::int64_t> next;
  if (!wants(LogKind::kSamples) || !wants_step(-1)) return next;
  for (const auto& journal : journals_) {
    if (journal->frames_seen == 0) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto times, journal->reader->sample_times(from));
    if (times) next = std::min(next.value_or(kEver), times->first_unix_ns);
  }
  return next;
}

// By time, and at one time by journal.
Result<std::vector<RecordLog::LogTick>> RecordLog::ticks_in(std::int64_t from, std::int64_t to, bool only_new) {
  std::vector<LogTick> ticks;
  for (std::uint32_t i = 0; i < journals_.size(); ++i) {
    LogJournal& journal = *journals_[i];
    if (journal.frames_seen == 0 || (only_new && journal.frames_seen == journal.frames_before)) continue;
    journal::SampleQuery query;
    for (std::uint32_t metric = 0; metric < journal.reader->metrics().size(); ++metric) query.metrics.push_back(metric);
    query.from_unix_ns = from;
    query.to_unix_ns = to;
    query.first_frame = only_new ? journal.frames_before : 0;
    std::map<std::int64_t, LogTick> by_time;
    TRAINWARDEN_RETURN_IF_ERROR(journal.reader->samples(query, [&](const journal::SampleChunk& chunk) {
      for (const Sample& sample : chunk.samples) {
        LogTick& tick = by_time[sample.unix_ns];
        tick.unix_ns = sample.unix_ns;
        tick.journal = i;
        tick.samples.emplace_back(chunk.metric, sample.value);
      }
    }));
    for (auto& [time, tick] : by_time) ticks.push_back(std::move(tick));
  }
  std::stable_sort(ticks.begin(), ticks.end(),
                   [](const LogTick& a, const LogTick& b) { return a.unix_ns < b.unix_ns; });
  return ticks;
}

Result<std::uint64_t> RecordLog::count_from(std::int64_t from) {
  std::uint64_t lines = 0;
  for (auto item = items_.rbegin(); item != items_.rend() && item->unix_ns >= from; ++item) {
    lines += item->kind == LogKind::kStep ? lines_of_step(*journals_[item->journal]->reader, item->index) : 1;
  }
  if (!wants(LogKind::kSamples) || !wants_step(-1)) return lines;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<LogTick> ticks, ticks_in(from, kEver, false));
  return lines + ticks.size();
}

std::uint64_t RecordLog::lines_of_step(journal::JournalReader& reader, std::size_t index) const {
  std::uint64_t lines = wants(LogKind::kStep) ? 1 : 0;
  if (!wants(LogKind::kTensor)) return lines;
  const auto records = reader.records(index);
  if (!records.ok()) return lines;
  for (const Record& record : *records) {
    if (wants_tensor(reader.tensors()[record.tensor].name)) ++lines;
  }
  return lines;
}

// Merges the two by time; at one time what was written with a step comes first.
Status RecordLog::emit(std::vector<LogItem> items, std::vector<LogTick> ticks, Walk& walk) {
  auto tick = ticks.begin();
  const auto emit_tick = [&]() -> Status {
    const LogTick& at = *tick++;
    if (walk.passes_over()) return {};
    RunLogLine line;
    line.kind = LogKind::kSamples;
    line.journal = journals_[at.journal]->name;
    line.unix_ns = at.unix_ns;
    const std::span<const Metric> metrics = journals_[at.journal]->reader->metrics();
    for (const auto& [metric, value] : at.samples) line.samples.emplace_back(&metrics[metric], value);
    return walk.visit(line);
  };
  for (const LogItem& item : items) {
    while (tick != ticks.end() && tick->unix_ns < item.unix_ns) TRAINWARDEN_RETURN_IF_ERROR(emit_tick());
    TRAINWARDEN_RETURN_IF_ERROR(emit_item(item, walk));
  }
  while (tick != ticks.end()) TRAINWARDEN_RETURN_IF_ERROR(emit_tick());
  return {};
}

Status RecordLog::emit_item(const LogItem& item, Walk& walk) {
  if (item.kind == LogKind::kStep) return emit_step(item, walk);
  if (item.kind == LogKind::kOperators) return emit_operators(item, walk);
  return emit_event(item, walk);
}

Status RecordLog::emit_step(const LogItem& item, Walk& walk) {
  journal::JournalReader& reader = *journals_[item.journal]->reader;
  const journal::StepEntry& step = reader.steps()[item.index];
  RunLogLine line;
  line.journal = journals_[item.journal]->name;
  line.unix_ns = item.unix_ns;
  line.step = step.global_step;
  line.mode = step.mode;
  line.mode_step = step.mode_step;
  const auto records = reader.records(item.index);
  if (!records.ok() && !is_unreadable(records.status())) return records.status();
  if (wants(LogKind::kStep) && !walk.passes_over()) {
    RunLogLine of_step = line;
    if (records.ok()) of_step.records = records->size();
    of_step.problem = records.status();
    TRAINWARDEN_RETURN_IF_ERROR(walk.visit(of_step));
  }
  if (!records.ok() || !wants(LogKind::kTensor)) return {};
  line.kind = LogKind::kTensor;
  const std::vector<Record> copied(records->begin(), records->end());  // reading may move them
  for (const Record& record : copied) {
    line.tensor = reader.tensors()[record.tensor].name;
    if (!wants_tensor(line.tensor) || walk.passes_over()) continue;
    TRAINWARDEN_RETURN_IF_ERROR(emit_tensor(reader, record, line, walk));
  }
  return {};
}

Status RecordLog::emit_tensor(journal::JournalReader& reader, const Record& record, RunLogLine line, Walk& walk) const {
  line.form = record.form;
  const auto take = [&]() -> Status {
    switch (record.form) {
      case RecordForm::kValue:
        if (filter_.with_values) {
          TRAINWARDEN_ASSIGN_OR_RETURN(line.value, reader.read_value(record));
        }
        break;
      case RecordForm::kStatistics: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const journal::StatisticsRow row, reader.read_statistics(record));
        line.statistics = row.statistics;
        break;
      }
      case RecordForm::kScalar: {
        TRAINWARDEN_ASSIGN_OR_RETURN(line.scalar, reader.read_scalar(record));
        return {};
      }
      case RecordForm::kReductions: {
        TRAINWARDEN_ASSIGN_OR_RETURN(line.reductions, reader.read_reductions(record));
        return {};
      }
      case RecordForm::kShape: break;
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto shape, reader.read_shape(record));
    line.has_shape = true;
    line.dtype = shape.first;
    line.shape = shape.second;
    return {};
  };
  line.problem = take();
  if (!line.problem.ok() && !is_unreadable(line.problem)) return line.problem;
  return walk.visit(line);
}

Status RecordLog::emit_event(const LogItem& item, Walk& walk) {
  if (walk.passes_over()) return {};
  const journal::EventEntry& event = journals_[item.journal]->events[item.index];
  RunLogLine line;
  line.kind = item.kind;
  line.journal = journals_[item.journal]->name;
  line.unix_ns = item.unix_ns;
  line.step = event.step;
  line.json = event.json;
  return walk.visit(line);
}

Status RecordLog::emit_operators(const LogItem& item, Walk& walk) {
  if (walk.passes_over()) return {};
  RunLogLine line;
  line.kind = LogKind::kOperators;
  line.journal = journals_[item.journal]->name;
  line.unix_ns = item.unix_ns;
  line.step = static_cast<std::int64_t>(item.index);
  const auto batch = journals_[item.journal]->reader->operators(line.step);
  if (batch.ok()) {
    line.mode = batch->mode;
    line.calls = batch->calls.size();
    line.lost_calls = batch->lost_calls;
  } else if (is_unreadable(batch.status())) {
    line.problem = batch.status();
  } else {
    return batch.status();
  }
  return walk.visit(line);
}

}  // namespace trainwarden::upkeep
