#include "react/watch/run_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "react/actions/request.h"
#include "react/watch/run_pipeline.h"
#include "read/trial/trial_access.h"

namespace trainwarden::watch {
namespace {

constexpr std::chrono::milliseconds kSettleInterval{5};
// What a rule may have examined costs some hundredths of a second.
constexpr std::int64_t kExaminedSteps = 4;
constexpr std::chrono::seconds kExaminationInterval{10};

}  // namespace

class RunWatch::Impl {
 public:
  Impl(Trial& trial, RunWatchOptions options) : trial_(trial), options_(std::move(options)) {}

  Status start(std::vector<rules::EngineRule> rules) {
    TRAINWARDEN_ASSIGN_OR_RETURN(
        pipeline_, RunPipeline::open(trial_, options_.write_journal ? LedgerUse::kKeepOrMemory : LedgerUse::kMemory));
    if (options_.own_program) recorder().await_program_end();
    std::vector<delivery::Subscription> subscriptions;
    if (options_.subscribe) {
      TRAINWARDEN_ASSIGN_OR_RETURN(subscriptions, options_.subscribe(pipeline_->context()));
    }
    TRAINWARDEN_RETURN_IF_ERROR(pipeline_->deliver(std::move(subscriptions), options_.on_delivery));
    const rules::EngineOptions options = engine_options(!rules.empty());
    engine_ = std::make_unique<rules::Engine>(trial_, std::move(rules), options, options_.on_verdict);
    return {};
  }

  // What was judged is recorded in the same call, so that actions follow at once.
  Status poll(const std::stop_token& stop) {
    const Status refreshed = engine_->poll(stop);
    record();
    return refreshed;
  }

  void finish() {
    engine_->finish();
    record();
  }

  bool settle(std::chrono::milliseconds timeout, const std::function<void()>& idle, const std::stop_token& stop) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (true) {
      if (idle) idle();
      if (trial_.refresh().ok()) record();  // what fails is tried again, until the time is up
      if (pipeline_->settle(kSettleInterval, stop)) return true;
      if (stop.stop_requested() || std::chrono::steady_clock::now() > deadline) return false;
    }
  }

  rules::Engine& engine() { return *engine_; }
  events::Recorder& recorder() { return pipeline_->recorder(); }
  delivery::Backlog backlog() const { return pipeline_->backlog(); }
  const std::string& note() const { return pipeline_->note(); }

 private:
  // Reported once: a journal that cannot be read now may be readable at the next look.
  void record() {
    const Status recorded = pipeline_->record();
    report_events();
    if (recorded.ok() || std::exchange(record_failed_, true)) return;
    log(LogLevel::kWarning, "events may come late: {}", recorded.to_string());
  }

  void report_events() {
    if (!options_.on_event) return;
    const events::Ledger& ledger = pipeline_->source();
    while (reported_events_ < ledger.last_seq()) options_.on_event(ledger.event(++reported_events_));
  }

  // Of a training that goes on. Where nothing can be asked the rule judges by what it has.
  void ask_for_examination(const std::string& reason) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_examination_ || trial_.state() != RunState::kRunning) return;
    if (!TrialAccess::check_writable(trial_, "a request to its training").ok()) return;
    const Status put = actions::put_examine_request(
        TrialAccess::location(trial_).storage(), TrialAccess::identity(trial_),
        {.key = {}, .reason = reason, .steps = kExaminedSteps, .requested_by = engine_->journal_name()});
    if (!put.ok()) log(LogLevel::kDebug, "no examination was asked for: {}", put.to_string());
    const auto waited = now - started_;
    next_examination_ = now + std::max<std::chrono::nanoseconds>(kExaminationInterval, waited / 2);
  }

  rules::EngineOptions engine_options(bool judges) {
    rules::EngineOptions options;
    options.keep_going = options_.keep_going;
    options.journal_storage = judges && options_.write_journal ? &TrialAccess::location(trial_).storage() : nullptr;
    options.mute = options_.mute;
    options.on_examine = [this](const std::string& reason) { ask_for_examination(reason); };
    options.on_unwritten = [this](const std::string& json) { recorder().take_unwritten(json); };
    return options;
  }

  Trial& trial_;
  const RunWatchOptions options_;
  std::unique_ptr<RunPipeline> pipeline_;
  std::unique_ptr<rules::Engine> engine_;  // last: its end notifies the recorder
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_examination_ = started_ + kExaminationInterval;
  bool record_failed_ = false;
  std::uint64_t reported_events_ = 0;
};

Result<std::unique_ptr<RunWatch>> RunWatch::start(Trial& trial, std::vector<rules::EngineRule> rules,
                                                  RunWatchOptions options) {
  auto impl = std::make_unique<Impl>(trial, std::move(options));
  TRAINWARDEN_RETURN_IF_ERROR(impl->start(std::move(rules)));
  return std::unique_ptr<RunWatch>(new RunWatch(std::move(impl)));
}

RunWatch::RunWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunWatch::~RunWatch() = default;

Status RunWatch::poll(std::stop_token stop) {
  return impl_->poll(stop);
}
void RunWatch::program_ended(const events::ProgramEnd& end) {
  impl_->recorder().program_ended(end);
}
void RunWatch::finish() {
  impl_->finish();
}
bool RunWatch::settle(std::chrono::milliseconds timeout, const std::function<void()>& idle,
                      const std::stop_token& stop) {
  return impl_->settle(timeout, idle, stop);
}
rules::Engine& RunWatch::engine() {
  return impl_->engine();
}
delivery::Backlog RunWatch::backlog() const {
  return impl_->backlog();
}
const std::string& RunWatch::note() const {
  return impl_->note();
}

}  // namespace trainwarden::watch
