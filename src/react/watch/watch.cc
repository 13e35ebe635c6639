#include "trainwarden/watch.h"

#include <utility>

#include "core/base/no_throw.h"
#include "judge/rules/engine.h"
#include "judge/rules/registry.h"
#include "judge/rules/rule_summary.h"
#include "react/actions/action_kind.h"
#include "react/delivery/wiring.h"
#include "react/watch/run_watch.h"
#include "react/watch/standard_wires.h"
#include "read/trial/trial_access.h"

namespace trainwarden {
namespace {

// For what the training is asked to answer; it answers at the end of a step.
constexpr std::chrono::seconds kAnswerTime{30};

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
  Impl(Trial& trial, WatchOptions options) : trial_(trial), options_(std::move(options)) {}
  ~Impl() {
    if (run_ != nullptr) finish();
  }

  Status start(std::vector<rules::EngineRule> rules) {
    const std::vector<std::string> ids = rules::rule_ids(rules);
    watch::RunWatchOptions options;
    options.keep_going = options_.keep_going;
    options.write_journal = options_.write_journal;
    options.on_verdict = [this](const rules::VerdictRecord& verdict) { on_verdict(verdict); };
    options.subscribe = [this, ids](const actions::RunContext& run) { return subscribe(run, ids); };
    TRAINWARDEN_ASSIGN_OR_RETURN(run_, watch::RunWatch::start(trial_, std::move(rules), std::move(options)));
    return {};
  }

  // The training is asked, and answers, before the next step is judged.
  Status poll() {
    const Status polled = run_->poll(options_.stop);
    if (std::exchange(alarmed_, false)) settle();
    return polled;
  }

  void finish() {
    if (std::exchange(finished_, true)) return;
    run_->finish();
    settle();
  }

  const rules::Engine& engine() const { return run_->engine(); }
  bool stop_requested() const { return stop_requested_; }

 private:
  // Failures are reported, too, and nothing follows them.
  void on_verdict(const rules::VerdictRecord& record) {
    if (options_.on_verdict) options_.on_verdict(verdict_of(record));
    if (!record.starts_actions()) return;
    alarmed_ = true;
    if (options_.stop_on_fire) stop_requested_ = true;
  }

  Result<std::vector<delivery::Subscription>> subscribe(const actions::RunContext& run,
                                                        const std::vector<std::string>& rule_ids) const {
    delivery::Wiring wiring;
    const bool asks = !rule_ids.empty() && TrialAccess::check_writable(trial_, "a request").ok();
    if (!asks) return std::vector<delivery::Subscription>();
    if (options_.write_journal && trial_.state() == RunState::kRunning) {
      wiring.wires.push_back(watch::black_box_wire(rule_ids));
    }
    if (options_.stop_on_fire) wiring.wires.push_back(watch::stop_wire(rule_ids));
    return delivery::subscribe(wiring, actions::local_action_kinds(), run);
  }

  // What has not been answered by then stays asked for.
  void settle() { static_cast<void>(run_->settle(kAnswerTime, options_.idle, options_.stop)); }

  Trial& trial_;
  const WatchOptions options_;
  std::unique_ptr<watch::RunWatch> run_;
  bool alarmed_ = false;  // since the last poll
  bool stop_requested_ = false;
  bool finished_ = false;
};

Result<std::unique_ptr<Watch>> Watch::start(Trial& trial, std::vector<WatchRule> rules, WatchOptions options) {
  return no_throw([&]() -> Result<std::unique_ptr<Watch>> {
    for (const WatchRule& rule : rules) {
      if (rule.rule == nullptr) return Status(Code::kInvalidArgument, "rule \"" + rule.spec.name + "\" is null");
    }
    if (options.stop_on_fire) {
      TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(trial, "a request to stop"));
    }
    auto impl = std::make_unique<Impl>(trial, std::move(options));
    TRAINWARDEN_RETURN_IF_ERROR(impl->start(engine_rules(std::move(rules))));
    return std::unique_ptr<Watch>(new Watch(std::move(impl)));
  });
}

Watch::Watch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Watch::~Watch() = default;

Status Watch::poll() {
  return no_throw([&] { return impl_->poll(); });
}
void Watch::finish() {
  impl_->finish();
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
  return no_throw([&]() -> Result<std::vector<RuleJobSummary>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run_dir));  // says well what is wrong with a folder
    TRAINWARDEN_ASSIGN_OR_RETURN(auto summaries, rules::summarize_rules(TrialAccess::location(*trial)));
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
