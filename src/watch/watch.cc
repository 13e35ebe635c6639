#include "trainwarden/watch.h"

#include <utility>

#include "actions/by_verdict/black_box_action.h"
#include "actions/by_verdict/dispatcher.h"
#include "actions/by_verdict/stop_action.h"
#include "rules/engine.h"
#include "rules/registry.h"
#include "rules/rule_summary.h"
#include "storage/local_storage.h"
#include "store/no_throw.h"
#include "trial/trial_access.h"

namespace trainwarden {
namespace {

static_assert(std::tuple_size_v<decltype(WatchRuleStatus::outcomes)> == rules::kOutcomeCount);

WatchVerdict verdict_of(const rules::VerdictRecord& record) {
  const rules::StepPlace& place = record.place;
  return {record.rule_id, place.global_step, place.mode, place.mode_step, record.unix_ns, record.verdict};
}

std::vector<rules::EngineRule> engine_rules(std::vector<WatchRule> watched) {
  std::vector<rules::EngineRule> engine_rules;
  for (WatchRule& rule : watched) {
    const RuleKind* const kind = rules::find_builtin(rule.spec.name);
    engine_rules.push_back({std::move(rule.spec), std::move(rule.rule)});
    if (kind != nullptr) engine_rules.back().consequences = kind->description.consequences;
  }
  return engine_rules;
}

}  // namespace

class Watch::Impl {
 public:
  Impl(Trial& trial, std::vector<WatchRule> rules, WatchOptions options)
      : trial_(trial),
        options_(std::move(options)),
        storage_(storage::open_local_storage(trial.path())),
        engine_(
            trial, engine_rules(std::move(rules)),
            {.keep_going = options_.keep_going, .journal_storage = options_.write_journal ? storage_.get() : nullptr},
            [this](const rules::VerdictRecord& verdict) { on_verdict(verdict); }),
        dispatcher_(engine_.journal_name(),
                    [this](std::int64_t step, std::string_view json) { return engine_.record_action(step, json); }) {}

  rules::Engine& engine() { return engine_; }
  Status poll() { return engine_.poll(options_.stop); }
  bool stop_requested() const { return stop_requested_; }

 private:
  // Failures are told, too, and nothing follows them.
  void on_verdict(const rules::VerdictRecord& record) {
    if (options_.on_verdict) options_.on_verdict(verdict_of(record));
    if (!record.alarms()) return;
    const actions::by_verdict::FiredVerdict fired{record.rule_id, record.place.global_step,
                                                  rules::step_text(record.place), record.verdict};
    if (!std::exchange(actions_set_up_, true)) set_up_actions();  // now it is known what the training can do
    for (const actions::by_verdict::ActionOutcome& outcome : dispatcher_.dispatch(fired, options_.stop)) {
      if (outcome.action == "stop") stop_requested_ = true;
    }
  }

  // The training answers requests in the order in which they were made: what led to the verdict first.
  void set_up_actions() {
    if (options_.write_journal && trial_.state() == RunState::kRunning &&
        actions::by_verdict::BlackBoxAction::is_of_use(*storage_)) {
      dispatcher_.add(std::make_unique<actions::by_verdict::BlackBoxAction>(*storage_));
    }
    if (!options_.stop_on_fire) return;
    const auto answered = [this](std::string_view) { return training_answered(); };
    dispatcher_.add(std::make_unique<actions::by_verdict::StopAction>(*storage_, answered));
  }

  Result<bool> training_answered() {
    if (options_.idle) options_.idle();
    TRAINWARDEN_RETURN_IF_ERROR(trial_.refresh());
    return TrialAccess::stop_accepted(trial_) || trial_.state() != RunState::kRunning;
  }

  Trial& trial_;
  const WatchOptions options_;
  const std::unique_ptr<storage::Storage> storage_;
  rules::Engine engine_;
  actions::by_verdict::Dispatcher dispatcher_;
  bool actions_set_up_ = false;
  bool stop_requested_ = false;
};

Result<std::unique_ptr<Watch>> Watch::start(Trial& trial, std::vector<WatchRule> rules, WatchOptions options) {
  return store::no_throw([&]() -> Result<std::unique_ptr<Watch>> {
    for (const WatchRule& rule : rules) {
      if (rule.rule == nullptr) return Status(Code::kInvalidArgument, "rule \"" + rule.spec.name + "\" is null");
    }
    if (options.stop_on_fire) {
      TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(trial, "a request to stop"));
    }
    return std::unique_ptr<Watch>(new Watch(std::make_unique<Impl>(trial, std::move(rules), std::move(options))));
  });
}

Watch::Watch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Watch::~Watch() = default;

Status Watch::poll() {
  return store::no_throw([&] { return impl_->poll(); });
}
void Watch::finish() {
  impl_->engine().finish();
}

bool Watch::run_ended() const {
  return impl_->engine().run_ended();
}
bool Watch::all_decided() const {
  return impl_->engine().all_decided();
}
std::int64_t Watch::last_judged_step() const {
  return impl_->engine().last_judged_step();
}
bool Watch::stop_requested() const {
  return impl_->stop_requested();
}
const std::string& Watch::journal() const {
  return impl_->engine().journal_name();
}
const Status& Watch::journal_status() const {
  return impl_->engine().journal_status();
}

std::vector<WatchRuleStatus> Watch::statuses() const {
  std::vector<WatchRuleStatus> statuses;
  for (rules::RuleStatusRecord& record : impl_->engine().statuses()) {
    statuses.push_back({std::move(record.rule_id), record.status, std::move(record.details), record.outcomes});
  }
  return statuses;
}

std::vector<WatchVerdict> Watch::first_fired() const {
  std::vector<WatchVerdict> fired;
  for (const rules::VerdictRecord& record : impl_->engine().first_fired()) fired.push_back(verdict_of(record));
  return fired;
}

Result<std::vector<RuleJobSummary>> rule_job_summary(const std::filesystem::path& run_dir) {
  return store::no_throw([&]() -> Result<std::vector<RuleJobSummary>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run_dir));  // says well what is wrong with a folder
    TRAINWARDEN_ASSIGN_OR_RETURN(auto summaries, rules::summarize_rules(trial->path()));
    std::vector<RuleJobSummary> list;
    for (rules::RuleSummary& summary : summaries) {
      list.push_back({std::move(summary.configuration_name), std::move(summary.job_arn),
                      std::move(summary.evaluation_status), std::move(summary.status_details),
                      summary.last_modified_unix_ns, summary.history.status.status});
    }
    return list;
  });
}

}  // namespace trainwarden
