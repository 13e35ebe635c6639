#include "tune/study/study.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/bytes.h"
#include "core/base/pause.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "tune/search/gp/regret_bound.h"
#include "tune/study/asked_value.h"
#include "tune/study/inheritance.h"
#include "tune/study/repeats.h"
#include "work/document/document.h"

namespace trainwarden::tune {
namespace {

using format::OrderedJson;

constexpr const char* kSpecFile = "study.json";
constexpr const char* kLockFile = "writer.lock";
constexpr int kFormatVersion = 1;
constexpr int kMaxTries = 1000;
constexpr std::uint64_t kMaxSpecBytes = std::uint64_t{16} << 20;
constexpr std::size_t kInheritedOfEntry = 500;  // events, so that an entry stays small whatever the space is
constexpr double kMinLockWaitMs = 2, kMaxLockWaitMs = 100;

Status damaged(const std::string& name, std::string_view why) {
  return Status(Code::kDataLoss, fmt::format("study {} is damaged: {}: {}", name, kSpecFile, why));
}

Status no_such_study(const storage::Location& studies, const std::string& name) {
  const auto names = Study::list(studies);
  const std::string near = names.ok() ? did_you_mean(name, *names) : "";
  return Status(Code::kNotFound, fmt::format("there is no study \"{}\" in {}{}; `trainwarden study ls` lists them",
                                             printable(name), studies.address(), near));
}

Status already_there(const std::string& name) {
  return Status(Code::kAlreadyExists,
                fmt::format("there is a study \"{0}\" already: `trainwarden study resume {0}` goes on with it, another "
                            "name begins anew",
                            name));
}

struct ReadSpec {
  StudySpec spec;
  std::int64_t made_unix_ns = 0;
};

Result<ReadSpec> read_spec(const std::string& text, const std::string& name) {
  const auto top = document::parse(text, kSpecFile);
  if (!top.ok()) return damaged(name, top.status().message());
  const auto json = format::parse_json_object(text, kSpecFile);
  if (!json.ok()) return damaged(name, json.status().message());
  const auto made = format::int_field(*json, "made_unix_ns", 0);
  if (!made.ok()) return damaged(name, made.status().message());
  document::Mistakes mistakes;
  document::DocumentValue spec_only;
  for (const auto& [key, value] : top->fields) {
    if (key == "spec") spec_only = value;
  }
  auto spec = read_study_spec(spec_only, mistakes);
  if (!spec) return damaged(name, mistakes.status().message());
  spec->name = name;
  return ReadSpec{*std::move(spec), *made};
}

bool is_same_end(const StudyState& state, std::size_t index, const StudyEvent& event) {
  const StudyTrial& trial = state.history().trials[index];
  if (trial.state != event.state) return false;
  const auto& metrics = state.history().metrics;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto said = event.metrics.find(metrics[i].name);
    const double now = said == event.metrics.end() ? std::numeric_limits<double>::quiet_NaN() : said->second;
    if (now != trial.values[i] && !(std::isnan(now) && std::isnan(trial.values[i]))) return false;
  }
  return true;
}

// What cannot count as an answer makes the trial a failed one: a search goes on without it.
void fail_what_is_no_number(const std::vector<StudyMetric>& metrics, StudyEvent& event) {
  if (event.state != TrialState::kComplete) return;
  for (const StudyMetric& metric : metrics) {
    const auto said = event.metrics.find(metric.name);
    if (metric.strategy == Strategy::kStore || said == event.metrics.end() || !std::isnan(said->second)) continue;
    event.state = TrialState::kFailed;
    event.why = fmt::format("{} is NaN{}{}", metric.name, event.why.empty() ? "" : "; ", event.why);
    return;
  }
}

}  // namespace

Study::Study(storage::Location place, StudySpec spec, std::int64_t made_unix_ns, const Clock& clock)
    : place_(std::move(place)),
      spec_(std::move(spec)),
      made_unix_ns_(made_unix_ns),
      clock_(&clock),
      log_(place_),
      state_(spec_) {}

Result<Study> Study::create(const storage::Location& studies, StudySpec spec, const Clock& clock) {
  if (!is_study_name(spec.name)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("expected a name of letters and digits with single hyphens between them, at most {}, found "
                    "\"{}\"",
                    kMaxStudyNameBytes, printable(spec.name)));
  }
  const OrderedJson document = {{"format", kFormatVersion}, {"made_unix_ns", clock.unix_ns()}, {"spec", json_of(spec)}};
  const storage::Location place = studies.child(spec.name);
  const Study planned(place, spec, clock.unix_ns(), clock);
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<StudyEvent> inherited, planned.events_to_inherit(studies));
  TRAINWARDEN_RETURN_IF_ERROR(studies.storage().create_folder(spec.name));
  const std::string text = document.dump(2) + "\n";
  const Status put = place.storage().put_if_absent(kSpecFile, as_bytes(text));
  if (put.code() == Code::kAlreadyExists) return already_there(spec.name);
  TRAINWARDEN_RETURN_IF_ERROR(put);
  TRAINWARDEN_ASSIGN_OR_RETURN(Study study, open(studies, spec.name, clock));  // as everybody else will read it
  TRAINWARDEN_RETURN_IF_ERROR(study.inherit(std::move(inherited)));
  return study;
}

Status Study::check_origins(const storage::Location& studies, const StudySpec& spec, const Clock& clock) {
  if (spec.from.empty() || !is_study_name(spec.name)) return {};
  return Study(studies.child(spec.name), spec, 0, clock).events_to_inherit(studies).status();
}

Result<std::vector<StudyEvent>> Study::events_to_inherit(const storage::Location& studies) const {
  const std::set<std::string> names(spec_.from.begin(), spec_.from.end());
  if (names.size() < spec_.from.size() || names.contains(spec_.name)) {
    return Status(Code::kInvalidArgument, fmt::format("from: expected other studies than {}, each once, found {}",
                                                      spec_.name, fmt::join(spec_.from, ", ")));
  }
  std::vector<Study> others;
  for (const std::string& name : spec_.from) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Study other, open(studies, name, *clock_));
    others.push_back(std::move(other));
  }
  std::vector<Origin> origins;
  for (const Study& other : others) origins.push_back({other.spec(), other.state()});
  return inherited_events(spec_, origins, [this] { return event(StudyEventKind::kInherited); });
}

Status Study::inherit(std::vector<StudyEvent> events) {
  for (std::size_t begin = 0; begin < events.size(); begin += kInheritedOfEntry) {
    const std::size_t end = std::min(begin + kInheritedOfEntry, events.size());
    TRAINWARDEN_RETURN_IF_ERROR(transact([&](std::vector<StudyEvent>& written) -> Status {
      written.assign(events.begin() + static_cast<std::ptrdiff_t>(begin),
                     events.begin() + static_cast<std::ptrdiff_t>(end));
      return {};
    }));
  }
  return {};
}

Result<Study> Study::open(const storage::Location& studies, const std::string& name, const Clock& clock) {
  if (!is_study_name(name)) return no_such_study(studies, name);
  const storage::Location place = studies.child(name);
  const auto text = place.storage().read(kSpecFile, kMaxSpecBytes);
  if (!text.ok() && text.status().code() == Code::kNotFound) return no_such_study(studies, name);
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(ReadSpec read, read_spec(*text, name));
  Study study(place, std::move(read.spec), read.made_unix_ns, clock);
  TRAINWARDEN_RETURN_IF_ERROR(study.refresh());
  return study;
}

Result<std::vector<std::string>> Study::list(const storage::Location& studies) {
  std::vector<std::string> names;
  const auto entries = studies.storage().list("");
  if (!entries.ok()) {
    if (entries.status().code() == Code::kNotFound) return names;
    return entries.status();
  }
  for (const std::string& name : *entries) {
    if (is_study_name(name) && studies.storage().exists(name + "/" + kSpecFile)) names.push_back(name);
  }
  return names;
}

Status Study::refresh() {
  return log_.read_new([this](const StudyEvent& event) {
    if (!state_.apply(event).ok()) ++refused_;
  });
}

// Waits at random about twice as long each time, a tenth of a second at most: a thousand who wait then ask ten thousand
// times a second, which leaves room for the one who decides, and one of them comes at once when it has. What has
// happened meanwhile is read while waiting, so that little is left to do with the lock. Where locks do not work,
// whoever is first makes the next entry and the others decide again.
Result<std::unique_ptr<storage::Lock>> Study::wait_for_lock() {
  const std::int64_t start_ns = system_clock().steady_ns();
  Random random(static_cast<std::uint64_t>(start_ns), static_cast<std::uint64_t>(::getpid()));
  double wait_ms = kMinLockWaitMs;
  while (true) {
    auto lock = place_.storage().lock(kLockFile);
    if (lock.status().code() == Code::kUnimplemented) return std::unique_ptr<storage::Lock>();
    if (lock.ok() || lock.status().code() != Code::kAlreadyExists) return lock;
    if (std::chrono::nanoseconds(system_clock().steady_ns() - start_ns) > kMaxWait) {
      return Status(Code::kUnavailable, fmt::format("others have decided on study {} for {} s: {}; try again",
                                                    spec_.name, kMaxWait.count(), lock.status().message()));
    }
    pause_for(std::chrono::milliseconds(static_cast<std::int64_t>(wait_ms * random.uniform(0.5, 1.5))), {});
    wait_ms = std::min(2 * wait_ms, kMaxLockWaitMs);
    TRAINWARDEN_RETURN_IF_ERROR(refresh());
  }
}

Status Study::transact(const Decide& decide) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto lock, wait_for_lock());
  for (int i = 0; i < kMaxTries; ++i) {
    TRAINWARDEN_RETURN_IF_ERROR(refresh());
    std::vector<StudyEvent> events;
    TRAINWARDEN_RETURN_IF_ERROR(decide(events));
    if (events.empty()) return {};
    const Status written = log_.append(events);
    if (written.code() == Code::kAborted) continue;
    TRAINWARDEN_RETURN_IF_ERROR(written);
    return refresh();
  }
  return Status(Code::kUnavailable, fmt::format("too many write into study {} at once: try again", spec_.name));
}

StudyEvent Study::event(StudyEventKind kind, std::int64_t trial) const {
  return {.kind = kind, .unix_ns = clock_->unix_ns(), .trial = trial};
}

StudyEvent Study::start_of(std::int64_t trial, const AskOptions& options) const {
  StudyEvent start = event(StudyEventKind::kStarted, trial);
  start.worker = options.worker;
  start.fingerprint = options.fingerprint;
  const auto index = static_cast<std::size_t>(trial);
  const int attempt = index < state_.history().trials.size() ? state_.record(index).attempts + 1 : 1;
  if (options.job_of) start.job = options.job_of(trial, attempt);
  if (options.lease_seconds > 0) {
    start.lease_unix_ns = start.unix_ns + static_cast<std::int64_t>(options.lease_seconds * 1e9);
  }
  return start;
}

std::optional<std::int64_t> Study::trial_to_give_again() const {
  const auto lost = state_.lost(clock_->unix_ns());
  if (!lost.empty()) return static_cast<std::int64_t>(lost.front());
  const auto& trials = state_.history().trials;
  const auto waiting = std::find_if(trials.begin(), trials.end(),
                                    [](const StudyTrial& trial) { return trial.state == TrialState::kWaiting; });
  return waiting == trials.end() ? std::nullopt : std::optional(waiting->number);
}

// In an open study, that all there is has been tried is no end: trials may ask for more, and objectives may be noisy.
Result<Suggestion> Study::suggestion_of(TrialSampler& sampler, const History& history, std::int64_t number) const {
  if (history.space.size() == 0) return Suggestion{};
  auto suggestion = sampler.suggest(history, number);
  const bool is_all_tried = suggestion.status().code() == Code::kResourceExhausted && sampler.name() != "grid";
  if (!spec_.open || !is_all_tried) return suggestion;
  Random random(history.seed, static_cast<std::uint64_t>(number));
  TRAINWARDEN_ASSIGN_OR_RETURN(Point point, random_point(history.space, random));
  return Suggestion{std::move(point), {}};
}

Result<Suggestion> Study::suggest(TrialSampler& sampler, std::int64_t number) const {
  if (state_.closed())
    return Status(Code::kResourceExhausted, fmt::format("the study has ended: {}", *state_.closed()));
  if (const auto why = end_of_budget(spec_, state_, made_unix_ns_, clock_->unix_ns())) {
    return Status(Code::kResourceExhausted, fmt::format("the study has ended: {}", *why));
  }
  if (spec_.from.empty()) return suggestion_of(sampler, state_.history(), number);
  if (!state_.has_inherited_all()) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("study {} was cut off when the trials that it starts from were copied: remove {} and "
                              "create it again",
                              spec_.name, place_.address()));
  }
  return suggestion_of(sampler, state_.searched(), number);
}

std::optional<StudyEvent> Study::answer_of(std::int64_t trial, const Point& point, const AskOptions& options) const {
  if (spec_.repeats == Repeats::kRun || spec_.open) return std::nullopt;  // it may ask for more than those had
  const auto known = known_result(state_, point, options.fingerprint);
  if (!known) return std::nullopt;
  StudyEvent ended = event(StudyEventKind::kEnded, trial);
  ended.metrics = known->metrics;
  ended.why = known->text();
  ended.same_as = known->trial;
  ended.origin = known->study;
  ended.fingerprint = options.fingerprint;
  return ended;
}

Status Study::ask_once(TrialSampler& sampler, const AskOptions& options, std::int64_t& number, bool& is_answered) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    const auto again = trial_to_give_again();
    const History& history = state_.history();
    number = again.value_or(static_cast<std::int64_t>(history.trials.size()));
    Point point;
    if (again) {
      point = history.trials[static_cast<std::size_t>(number)].point;
    } else {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Suggestion suggestion, suggest(sampler, number));
      StudyEvent suggested = event(StudyEventKind::kSuggested, number);
      suggested.values = history.space.values_of(suggestion.point);
      suggested.notes = suggestion.notes;
      suggested.sampler = sampler.name();
      events.push_back(std::move(suggested));
      point = suggestion.point;
    }
    const auto answer = answer_of(number, point, options);
    is_answered = answer.has_value();
    events.push_back(is_answered ? *answer : start_of(number, options));
    return {};
  });
}

Result<std::int64_t> Study::ask(TrialSampler& sampler, const AskOptions& options) {
  while (true) {  // ends: what waits is finite, and so is the number of repeats in a row
    std::int64_t number = -1;
    bool is_answered = false;
    TRAINWARDEN_RETURN_IF_ERROR(ask_once(sampler, options, number, is_answered));
    if (!is_answered) return number;
    if (options.answered) options.answered(number);
  }
}

Result<std::int64_t> Study::enqueue(const TriedValues& values) {
  std::int64_t number = -1;
  const Status done = transact([&](std::vector<StudyEvent>& events) -> Status {
    number = static_cast<std::int64_t>(state_.history().trials.size());
    StudyEvent suggested = event(StudyEventKind::kSuggested, number);
    suggested.values = values;
    suggested.sampler = kNamedByUser;
    TRAINWARDEN_RETURN_IF_ERROR(state_.check(suggested));
    events = {suggested};
    return {};
  });
  if (!done.ok()) return done;
  return number;
}

Result<TriedValues> Study::extend(std::int64_t trial, const std::vector<Hyperparameter>& asked) {
  TriedValues values;
  const Status done = transact([&](std::vector<StudyEvent>& events) -> Status {
    StudyState trying = state_;
    for (const Hyperparameter& each : asked) {
      StudyEvent extended = event(StudyEventKind::kExtended, trial);
      extended.parameter = each;
      TRAINWARDEN_ASSIGN_OR_RETURN(const TriedValue value, asked_value(trying, trial, each));
      extended.values = {{each.name, value}};
      values[each.name] = value;
      TRAINWARDEN_RETURN_IF_ERROR(trying.check(extended));
      if (has_value(trying, trial, each, value)) continue;
      TRAINWARDEN_RETURN_IF_ERROR(trying.apply(extended));
      events.push_back(std::move(extended));
    }
    return {};
  });
  if (!done.ok()) return done;
  return values;
}

Status Study::report(std::int64_t trial, const std::vector<StepReport>& steps, double lease_seconds) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    for (const StepReport& step : steps) {
      StudyEvent reported = event(StudyEventKind::kReported, trial);
      reported.step = step.step;
      reported.metrics = step.metrics;
      if (lease_seconds > 0) reported.lease_unix_ns = reported.unix_ns + static_cast<std::int64_t>(lease_seconds * 1e9);
      TRAINWARDEN_RETURN_IF_ERROR(state_.check(reported));
      events.push_back(std::move(reported));
    }
    return {};
  });
}

Status Study::beat(std::int64_t trial, double lease_seconds) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    StudyEvent beat = event(StudyEventKind::kBeat, trial);
    beat.lease_unix_ns = beat.unix_ns + static_cast<std::int64_t>(lease_seconds * 1e9);
    TRAINWARDEN_RETURN_IF_ERROR(state_.check(beat));
    events = {beat};
    return {};
  });
}

Status Study::pause(std::int64_t trial, const std::string& why) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    StudyEvent paused = event(StudyEventKind::kPaused, trial);
    paused.why = why;
    TRAINWARDEN_RETURN_IF_ERROR(state_.check(paused));
    events = {paused};
    return {};
  });
}

Status Study::promote(std::int64_t trial, std::int64_t rung, const std::string& worker, const std::string& why) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    StudyEvent promoted = event(StudyEventKind::kPromoted, trial);
    promoted.step = rung;
    promoted.worker = worker;
    promoted.why = why;
    TRAINWARDEN_RETURN_IF_ERROR(state_.check(promoted));
    events = {promoted};
    return {};
  });
}

std::optional<std::string> Study::end_of_promotions() const {
  if (state_.closed()) return *state_.closed();
  return tune::end_of_promotions(spec_, state_, made_unix_ns_, clock_->unix_ns());
}

Status Study::finish(std::int64_t trial, const TrialEnd& end) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    StudyEvent ended = event(StudyEventKind::kEnded, trial);
    ended.state = end.state;
    ended.metrics = end.metrics;
    ended.why = end.why;
    ended.by_verdict = end.by_verdict;
    ended.unused = end.unused;
    ended.attributes = end.attributes;
    fail_what_is_no_number(spec_.metrics, ended);
    const auto index = static_cast<std::size_t>(trial);
    const bool is_known = trial >= 0 && index < state_.history().trials.size();
    if (is_known) {
      const std::int64_t started = state_.record(index).started_unix_ns;
      ended.seconds = end.seconds.value_or(started > 0 ? static_cast<double>(ended.unix_ns - started) / 1e9 : 0);
      if (state_.history().trials[index].is_over() && is_same_end(state_, index, ended)) return {};
    }
    TRAINWARDEN_RETURN_IF_ERROR(state_.check(ended));
    events = {ended};
    if (auto closed = close_by_regret(ended)) events.push_back(*std::move(closed));
    return {};
  });
}

std::optional<StudyEvent> Study::close_by_regret(const StudyEvent& ended) const {
  if (!spec_.budget.regret || state_.closed() || ended.state != TrialState::kComplete) return std::nullopt;
  if (!why_regret_is_unknown(spec_.space, spec_.metrics).empty()) return std::nullopt;
  StudyState after = state_;
  if (!after.apply(ended).ok() || !is_regret_due(after.history())) return std::nullopt;
  const auto bound = regret_bound(after.searched());
  if (!bound || *bound >= *spec_.budget.regret) return std::nullopt;
  StudyEvent closed = event(StudyEventKind::kClosed);
  closed.why = fmt::format("at most {:.3g} of {} is left to gain, less than {:.6g}", *bound,
                           spec_.metrics[after.history().objectives().front()].name, *spec_.budget.regret);
  return closed;
}

Result<std::int64_t> Study::add_finished(const TriedValues& values, const TrialEnd& end) {
  std::int64_t number = -1;
  const Status done = transact([&](std::vector<StudyEvent>& events) -> Status {
    number = static_cast<std::int64_t>(state_.history().trials.size());
    StudyEvent suggested = event(StudyEventKind::kSuggested, number);
    suggested.values = values;
    suggested.sampler = kNamedByUser;
    StudyEvent ended = event(StudyEventKind::kEnded, number);
    ended.state = end.state;
    ended.metrics = end.metrics;
    ended.why = end.why;
    ended.seconds = end.seconds.value_or(0);
    fail_what_is_no_number(spec_.metrics, ended);
    StudyState trying = state_;
    TRAINWARDEN_RETURN_IF_ERROR(trying.apply(suggested));
    TRAINWARDEN_RETURN_IF_ERROR(trying.check(ended));
    events = {suggested, ended};
    return {};
  });
  if (!done.ok()) return done;
  return number;
}

Status Study::add_past(const std::vector<StudyEvent>& past) {
  constexpr std::size_t kEventsOfEntry = 2000;
  StudyState trying = state_;
  for (const StudyEvent& each : past) TRAINWARDEN_RETURN_IF_ERROR(trying.apply(each));
  for (std::size_t first = 0; first < past.size(); first += kEventsOfEntry) {
    const auto begin = past.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = past.begin() + static_cast<std::ptrdiff_t>(std::min(first + kEventsOfEntry, past.size()));
    TRAINWARDEN_RETURN_IF_ERROR(transact([&](std::vector<StudyEvent>& events) -> Status {
      events.assign(begin, end);
      return {};
    }));
  }
  return {};
}

Status Study::close(const std::string& why) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    if (state_.closed()) return {};
    events = {event(StudyEventKind::kClosed)};
    events.front().why = why;
    return {};
  });
}

Status Study::reopen(const std::string& why) {
  return transact([&](std::vector<StudyEvent>& events) -> Status {
    if (!state_.closed()) return {};
    events = {event(StudyEventKind::kReopened)};
    events.front().why = why;
    return {};
  });
}

}  // namespace trainwarden::tune
