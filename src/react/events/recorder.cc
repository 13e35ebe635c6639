#include "react/events/recorder.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "data/format/control_record.h"
#include "judge/rules/registry.h"
#include "judge/rules/rule_standing.h"
#include "judge/rules/status_details.h"
#include "judge/rules/verdict_context.h"
#include "judge/rules/verdict_json.h"
#include "react/events/event_text.h"
#include "react/events/restored_run.h"
#include "react/events/run_facts.h"
#include "react/events/training_words.h"
#include "react/events/watch_journals.h"
#include "read/trial/trial_access.h"

namespace trainwarden::events {
namespace {

using format::OrderedJson;

// How often it is asked whether the engines that judge are still there.
constexpr std::int64_t kLifeIntervalNs = 200'000'000;
constexpr const char* kUnwritten = "unwritten";

// "VanishingGradient" and "found" → "vanishinggradient-found"
std::string key_of(std::string_view subject, std::string_view rest) {
  std::string key;
  for (const char c : subject) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    key += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '-';
  }
  constexpr std::size_t kMaxSubject = 60;  // of the 100 bytes of a key
  if (key.size() > kMaxSubject) key.resize(kMaxSubject);
  return fmt::format("{}-{}", key, rest);
}

// "120" of a verdict on a step, "t1700000003000" of one on a window of time: its end in milliseconds.
std::string place_key(const rules::StepPlace& place) {
  constexpr std::int64_t kMillisecondNs = 1'000'000;
  if (!place.is_time()) return std::to_string(place.global_step);
  return fmt::format("t{}", place.to_unix_ns / kMillisecondNs);
}

bool is_issue(const rules::VerdictRecord& record) {
  return record.verdict.outcome == Outcome::kFired && record.verdict.severity != Severity::kInfo;
}

// Where an event was read, so that who goes on does not record it again.
struct Origin {
  std::string journal;
  std::uint64_t entry = 0;
};

}  // namespace

class Recorder::Impl {
 public:
  Impl(Trial& trial, storage::Storage& storage, Ledger& ledger, const Clock& clock)
      : trial_(trial),
        ledger_(ledger),
        clock_(clock),
        words_(trial, storage, clock),
        journals_(storage, TrialAccess::run_info(trial), clock) {
    view_.info = TrialAccess::run_info(trial);
    view_.folder = trial.path();
    view_.name = trial.path().empty() ? view_.info.id : TrialAccess::location(trial).name();
    facts_.created_unix_ns = view_.info.created_unix_ns;
    facts_.host = view_.info.host;
    facts_.first_step_after = [this](std::int64_t unix_ns) { return first_step_after(unix_ns); };
    restore();
  }

  Status poll() {
    view_.last_step = trial_.last_complete_step();
    take_words();
    record_run();
    Status status = take_journals();
    for (const std::string& json : std::exchange(unwritten_, {})) take_record(kUnwritten, std::nullopt, json, false);
    const Status settled = settle_abandoned();
    if (std::exchange(intake_moved_, false)) ledger_.record_intake(intake_);
    ledger_.beat();
    return status.ok() ? settled : status;
  }

  void await_program_end() { facts_.program_end_awaited = true; }
  void take_unwritten(const std::string& json) { unwritten_.push_back(json); }
  void program_ended(const ProgramEnd& end) { facts_.program_end = end; }
  const RunView& view() const { return view_; }

  Result<actions::RunAnswer> answer_to(const format::RequestId& request) const {
    const std::scoped_lock lock(mutex_);
    actions::RunAnswer answer;
    switch (request.kind) {
      case format::RequestKind::kCheckpoint: answer = words_.answer_to_save(request.key); break;
      case format::RequestKind::kBlackBox: answer = words_.answer_to_dump(request.key); break;
      case format::RequestKind::kStop:
        answer.accepted = stop_accepted_;
        answer.done = stop_accepted_ && ended_;
        break;
      case format::RequestKind::kCapture:
      case format::RequestKind::kProfile:
      case format::RequestKind::kExamine:
      case format::RequestKind::kDelivery:
        return Status(Code::kInvalidArgument,
                      fmt::format("\"{}\" is no request that a training answers", format::path_of(request)));
    }
    answer.ended = ended_;
    return answer;
  }

 private:
  using AlertId = std::tuple<std::string, RuleParameters, std::int64_t, std::int64_t>;  // step, end of the window

  void restore();
  void take_words();
  void record_run();
  void update_facts();
  std::int64_t first_step_after(std::int64_t unix_ns) const;
  Status take_journals();
  WatchJournals::Take take_entry();
  bool is_explained(const rules::VerdictRecord& record) const;
  void take_record(const std::string& journal, const std::optional<Origin>& origin, const std::string& json,
                   bool known);
  void take_status(const std::string& journal, const std::optional<Origin>& origin,
                   const rules::RuleStatusRecord& record, bool known);
  void take_verdict(const std::string& journal, const std::optional<Origin>& origin,
                    const rules::VerdictRecord& record);
  Status settle_abandoned();
  void record_rule(const rules::RuleChange& change, const std::optional<Origin>& origin);
  const rules::VerdictRecord* issue_of(const rules::RuleStanding& standing) const;
  void append(Event event, const std::optional<Origin>& origin);

  Trial& trial_;
  Ledger& ledger_;
  const Clock& clock_;
  RunView view_;
  RunFacts facts_;
  rules::RuleStandings standings_;                                              // beside view_.rules
  std::map<std::pair<std::string, std::string>, rules::VerdictRecord> issues_;  // the first, by journal and rule's id
  std::map<std::string, std::set<std::int64_t>> fired_steps_;                   // of all engines, by rule
  std::set<AlertId> alerts_;                                                    // that are recorded
  std::set<std::string> keys_;                                                  // of alerts
  std::map<std::string, int> next_number_;                                      // behind a key that is taken
  Intake recorded_;                                                             // entries that another recorder took in
  Intake intake_;
  bool intake_moved_ = false;
  std::vector<std::string> unwritten_;
  std::int64_t life_ns_ = 0;  // when it was asked whether engines live, on the steady clock
  bool life_asked_ = false;
  mutable std::mutex mutex_;  // what answer_to() reads
  TrainingWords words_;
  bool stop_accepted_ = false;
  bool ended_ = false;
  WatchJournals journals_;
};

void Recorder::Impl::restore() {
  RestoredRun restored = restore_run(ledger_);
  for (const RunTransition& row : restored.transitions) view_.table.advance(row.status, row.start_unix_ns, row.message);
  view_.rules = std::move(restored.rules);
  for (const RuleRow& row : view_.rules) {
    rules::RuleStanding standing;
    standing.status = {row.rule_id, row.rule, row.parameters, row.status, {}, {}, row.modified_unix_ns};
    standing.taken_up_unix_ns = restored.taken_up_unix_ns[row.rule_id];
    standings_.restore(std::move(standing));
  }
  for (RestoredAlert& alert : restored.alerts) {
    alerts_.emplace(std::move(alert.rule_id), std::move(alert.parameters), alert.global_step, alert.to_unix_ns);
    keys_.insert(std::move(alert.key));
  }
  view_.modified_unix_ns = restored.modified_unix_ns;
  recorded_ = std::move(restored.intake);
  intake_ = recorded_;
}

void Recorder::Impl::take_words() {
  const std::scoped_lock lock(mutex_);
  words_.poll();
}

void Recorder::Impl::update_facts() {
  facts_.now_unix_ns = clock_.unix_ns();
  facts_.state = trial_.state();
  facts_.writing = false;
  for (const trial::WorkerJournal* journal : TrialAccess::journals(trial_)) {
    facts_.writing = facts_.writing || (journal->life().writing && !journal->life().run_end);
  }
  facts_.last_unix_ns = std::max(words_.last_unix_ns(), trial_.last_unix_ns());
  facts_.end_unix_ns = words_.end_unix_ns();
  const bool ended = facts_.state == RunState::kCompleted || facts_.state == RunState::kStopped;
  if (ended && facts_.end_unix_ns == 0) facts_.end_unix_ns = facts_.last_unix_ns;  // smdebug says no more
  facts_.stops = words_.stops();
}

void Recorder::Impl::record_run() {
  update_facts();
  while (auto next = next_status(view_.table, facts_)) {
    const auto text_of = [&] {
      if (view_.table.empty()) return std::string();
      const SecondaryStatus status = view_.table.status();
      return fmt::format("{}/{}", name(primary_of(status)), name(status));
    };
    Event event;
    event.change.from = text_of();
    if (!view_.table.advance(next->status, next->unix_ns, std::move(next->message))) break;
    event.change.to = text_of();
    const StopFact* const stop = stop_of_attempt(view_.table, facts_);
    view_.stop = stop == nullptr ? std::nullopt : std::optional(stop->request);
    event.change.kind = ChangeKind::kRun;
    event.type = kStateChangeType;
    event.subject = "run";
    event.unix_ns = view_.table.transitions().back().start_unix_ns;
    event.key = key_of("run", key_of(name(next->status), std::to_string(ledger_.last_seq() + 1)));
    append(std::move(event), std::nullopt);
  }
  const StopFact* const stop = stop_of_attempt(view_.table, facts_);
  view_.stop = stop == nullptr ? std::nullopt : std::optional(stop->request);
  const std::scoped_lock lock(mutex_);
  stop_accepted_ = stop != nullptr && stop->accepted_unix_ns > 0;
  ended_ = facts_.state != RunState::kRunning || is_terminal(view_.table.status());
}

// The workers' steps rise in time: the first one is near the end when only the newest are asked for.
std::int64_t Recorder::Impl::first_step_after(std::int64_t unix_ns) const {
  std::int64_t first = 0;
  for (trial::WorkerJournal* journal : TrialAccess::journals(trial_)) {
    if (!journal->readable()) continue;
    journal::JournalReader& reader = journal->reader();
    std::int64_t earliest = 0;
    if (unix_ns <= 0 && !reader.steps().empty()) earliest = reader.unix_ns(0);
    for (std::size_t i = reader.steps().size(); unix_ns > 0 && i-- > 0;) {
      const std::int64_t ended = reader.unix_ns(i);
      if (ended < unix_ns) break;
      earliest = ended;
    }
    if (earliest > 0 && (first == 0 || earliest < first)) first = earliest;
  }
  return first;
}

// All are read before any is taken in: rules that judge inside the training have a journal of their own, and what one
// of them found may explain a verdict of a rule beside it.
Status Recorder::Impl::take_journals() {
  struct Read {
    std::string journal;
    std::uint64_t entry;
    journal::EventEntry event;
  };
  std::vector<Read> read;
  const Status status = journals_.poll([&](const std::string& journal, std::uint64_t entry, const auto& event) {
    read.push_back({journal, entry, event});
    if (event.kind != format::FrameKind::kVerdict) return;
    const auto verdict = rules::decode_verdict(event.json);
    if (verdict.ok() && *verdict && is_issue(**verdict)) {
      fired_steps_[(*verdict)->rule].insert((*verdict)->place.global_step);
    }
  });
  const WatchJournals::Take take = take_entry();
  for (const Read& one : read) take(one.journal, one.entry, one.event);
  return status;
}

// By a rule of whichever engine; an engine has said so of its own.
bool Recorder::Impl::is_explained(const rules::VerdictRecord& record) const {
  const std::int64_t step = record.place.global_step;
  return std::any_of(fired_steps_.begin(), fired_steps_.end(), [&](const auto& rule_and_steps) {
    const RuleKind* const kind = rules::find_builtin(rule_and_steps.first);
    if (kind == nullptr) return false;
    const auto& names = kind->description.consequences;
    if (std::find(names.begin(), names.end(), record.rule) == names.end()) return false;
    const auto first = rule_and_steps.second.lower_bound(step - rules::kCauseReachSteps);
    return first != rule_and_steps.second.end() && *first <= step;
  });
}

WatchJournals::Take Recorder::Impl::take_entry() {
  return [this](const std::string& journal, std::uint64_t entry, const journal::EventEntry& event) {
    const bool known = entry < recorded_[journal];
    if (event.kind == format::FrameKind::kVerdict) take_record(journal, Origin{journal, entry}, event.json, known);
    if (known) return;
    intake_[journal] = entry + 1;
    intake_moved_ = true;
  };
}

// What cannot be read is passed over: the journal's readers count it.
void Recorder::Impl::take_record(const std::string& journal, const std::optional<Origin>& origin,
                                 const std::string& json, bool known) {
  const auto status = rules::decode_rule_status(json);
  if (status.ok() && *status) return take_status(journal, origin, **status, known);
  const auto verdict = rules::decode_verdict(json);
  if (verdict.ok() && *verdict) take_verdict(journal, origin, **verdict);
}

void Recorder::Impl::take_status(const std::string& journal, const std::optional<Origin>& origin,
                                 const rules::RuleStatusRecord& record, bool known) {
  if (known && standings_.remember(journal, record)) return;
  // What could not be written is of the engine that judges here.
  const std::string judging = origin ? std::string() : standings_.judging_journal(record);
  const auto change = standings_.take(judging.empty() ? journal : judging, record);
  if (change) record_rule(*change, origin);
}

// An alert is recorded unless it was, whatever is known of the journal: should the ledger be damaged, it comes again.
void Recorder::Impl::take_verdict(const std::string& journal, const std::optional<Origin>& origin,
                                  const rules::VerdictRecord& record) {
  if (is_issue(record)) issues_.try_emplace({journal, record.rule_id}, record);
  if (!record.starts_actions() || is_explained(record)) return;
  const rules::StepPlace& place = record.place;
  if (!alerts_.emplace(record.rule_id, record.parameters, place.global_step, place.to_unix_ns).second) return;
  Event event;
  event.change.kind = ChangeKind::kAlert;
  event.change.rule = record.rule_id;
  event.type = kAlertType;
  event.subject = record.rule_id;
  event.unix_ns = record.unix_ns;
  event.global_step = record.place.global_step;
  const std::string where = place_key(place);
  event.key = key_of(record.rule_id, where);
  // Rules of the same id with other parameters, of another engine.
  for (int& number = next_number_.try_emplace(event.key, 2).first->second; !keys_.insert(event.key).second; ++number) {
    event.key = key_of(record.rule_id, fmt::format("{}-{}", where, number));
  }
  describe_alert(view_, record, event);
  if (ledger_.keeps_events()) event.data["alert"] = rules::verdict_json(record);
  append(std::move(event), origin);
}

// What an engine wrote before it let go of its lock is taken in before the engine is taken for gone.
Status Recorder::Impl::settle_abandoned() {
  const std::int64_t now = clock_.steady_ns();
  const bool over = facts_.state != RunState::kRunning || facts_.program_end;
  if (life_asked_ && !over && now - life_ns_ < kLifeIntervalNs) return {};
  life_asked_ = true;
  life_ns_ = now;
  for (const std::string& journal : journals_.names()) {
    if (!standings_.judges(journal)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool abandoned, journals_.abandoned(journal, take_entry()));
    if (!abandoned) continue;
    for (const rules::RuleChange& change : standings_.engine_gone(journal, clock_.unix_ns())) {
      record_rule(change, std::nullopt);
    }
  }
  return {};
}

const rules::VerdictRecord* Recorder::Impl::issue_of(const rules::RuleStanding& standing) const {
  if (standing.status.status != RuleStatus::kIssuesFound) return nullptr;
  for (const std::string& journal : {standing.journal, std::string(kUnwritten)}) {
    const auto issue = issues_.find({journal, standing.status.rule_id});
    if (issue != issues_.end() && issue->second.parameters == standing.status.parameters) return &issue->second;
  }
  return nullptr;
}

void Recorder::Impl::record_rule(const rules::RuleChange& change, const std::optional<Origin>& origin) {
  const rules::RuleStanding& standing = standings_.standings()[change.rule];
  const rules::VerdictRecord* const issue = issue_of(standing);
  if (change.rule == view_.rules.size()) {
    view_.rules.emplace_back();
    view_.rules.back().arn = rules::rule_arn_of(view_.name, standing.first_journal, standing.status.rule_id);
  }
  RuleRow& row = view_.rules[change.rule];
  row.rule_id = standing.status.rule_id;
  row.rule = standing.status.rule;
  row.parameters = standing.status.parameters;
  row.status = standing.status.status;
  row.modified_unix_ns = standing.status.unix_ns;
  row.details.reset();
  if (row.status != RuleStatus::kInProgress) row.details = rules::status_details_of(standing.status, issue);

  Event event;
  event.change.kind = ChangeKind::kRule;
  event.change.rule = row.rule_id;
  event.change.from = change.from ? name(*change.from) : "";
  event.change.to = name(change.to);
  event.type = kStateChangeType;
  event.subject = row.rule_id;
  event.unix_ns = row.modified_unix_ns;
  if (issue != nullptr) event.global_step = issue->place.global_step;
  event.key = key_of(row.rule_id, key_of(event.change.to, std::to_string(ledger_.last_seq() + 1)));
  describe_rule_change(view_, standing.status, event);
  append(std::move(event), origin);
}

void Recorder::Impl::append(Event event, const std::optional<Origin>& origin) {
  view_.modified_unix_ns = event.unix_ns;
  if (event.change.kind == ChangeKind::kRun) describe_run_change(view_, event);
  if (!ledger_.keeps_events()) {
    ledger_.append(std::move(event));
    return;
  }
  event.source = source_of(view_);
  OrderedJson data = job_json(view_, TimeForm::kMilliseconds);
  if (event.data.contains("alert")) data["alert"] = std::move(event.data["alert"]);
  if (origin) data["origin"] = {{"journal", origin->journal}, {"entry", origin->entry}};
  event.data = std::move(data);
  ledger_.append(std::move(event));
}

Recorder::Recorder(Trial& trial, storage::Storage& run_storage, Ledger& ledger, const Clock& clock)
    : impl_(std::make_unique<Impl>(trial, run_storage, ledger, clock)) {}
Recorder::~Recorder() = default;

Status Recorder::poll() {
  return no_throw([&] { return impl_->poll(); });
}
void Recorder::await_program_end() {
  impl_->await_program_end();
}
void Recorder::take_unwritten(const std::string& json) {
  impl_->take_unwritten(json);
}
void Recorder::program_ended(const ProgramEnd& end) {
  impl_->program_ended(end);
}
const RunView& Recorder::view() const {
  return impl_->view();
}
Result<actions::RunAnswer> Recorder::answer_to(const format::RequestId& request) const {
  return impl_->answer_to(request);
}

}  // namespace trainwarden::events
