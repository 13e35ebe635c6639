#include "watch/run_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "trial/trial_access.h"
#include "watch/context_of_run.h"

namespace trainwarden::watch {
namespace {

constexpr std::chrono::milliseconds kSettleInterval{5};

}  // namespace

class RunWatch::Impl {
 public:
  Impl(Trial& trial, RunWatchOptions options)
      : trial_(trial), options_(std::move(options)), storage_(TrialAccess::location(trial).storage()) {}

  Status start(std::vector<rules::EngineRule> rules) {
    open_ledger();
    recorder_ = std::make_unique<events::Recorder>(trial_, storage_, *ledger_);
    if (options_.own_program) recorder_->await_program_end();
    std::vector<delivery::Subscription> subscriptions;
    if (options_.subscribe) {
      TRAINWARDEN_ASSIGN_OR_RETURN(subscriptions, options_.subscribe(run_context()));
      std::erase_if(subscriptions, [this](const auto& subscription) { return keeper_delivers(subscription); });
    }
    courier_ = std::make_unique<delivery::Courier>(*ledger_, std::move(subscriptions), courier_options());
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
      if (courier_->settle(kSettleInterval, stop)) return true;
      if (stop.stop_requested() || std::chrono::steady_clock::now() > deadline) return false;
    }
  }

  rules::Engine& engine() { return *engine_; }
  events::Recorder& recorder() { return *recorder_; }
  delivery::Backlog backlog() const { return courier_->backlog(); }
  const std::string& note() const { return note_; }

 private:
  // Told once: a journal that cannot be read now may be readable at the next look.
  void record() {
    const Status recorded = recorder_->poll();
    if (recorded.ok() || std::exchange(record_failed_, true)) return;
    log(LogLevel::kWarning, "events may come late: {}", recorded.to_string());
  }

  // What cannot be written down is delivered nevertheless.
  void open_ledger() {
    const store::RunInfo& run = TrialAccess::run_info(trial_);
    if (options_.write_journal && TrialAccess::check_writable(trial_, "a ledger of events").ok()) {
      auto ledger = events::Ledger::open(storage_, system_clock(), run);
      if (ledger.ok()) {
        ledger_ = *std::move(ledger);
        return;
      }
      const bool kept = ledger.status().code() == Code::kAlreadyExists;
      if (kept) see_keeper(run);
      note_ = kept ? "another program records the events of this run; what follows here is not written down"
                   : "events are not kept: " + ledger.status().message();
    }
    ledger_ = events::Ledger::in_memory(system_clock(), run);
  }

  void see_keeper(const store::RunInfo& run) {
    auto ledger = events::read_ledger(storage_, run);
    if (ledger.ok()) keepers_ = std::move(ledger->subscribed);
  }

  // A file that two programs were given is heeded by one of them.
  bool keeper_delivers(const delivery::Subscription& subscription) const {
    return std::any_of(keepers_.begin(), keepers_.end(), [&](const events::SubscribedRecord& kept) {
      return !kept.config.empty() && kept.config == subscription.config && kept.subscription == subscription.name;
    });
  }

  actions::RunContext run_context() {
    return context_of_run(trial_,
                          [recorder = recorder_.get()](std::string_view path) { return recorder->answer_to(path); });
  }

  delivery::CourierOptions courier_options() const {
    delivery::CourierOptions options;
    options.run_name = TrialAccess::location(trial_).name();
    options.run = trial_.path();
    options.run_id = TrialAccess::identity(trial_);
    options.on_delivery = options_.on_delivery;
    return options;
  }

  rules::EngineOptions engine_options(bool judges) {
    rules::EngineOptions options;
    options.keep_going = options_.keep_going;
    options.journal_storage = judges && options_.write_journal ? &storage_ : nullptr;
    options.mute = options_.mute;
    options.on_unwritten = [this](const std::string& json) { recorder_->take_unwritten(json); };
    return options;
  }

  Trial& trial_;
  const RunWatchOptions options_;
  storage::Storage& storage_;
  std::string note_;
  std::unique_ptr<events::Ledger> ledger_;
  std::unique_ptr<events::Recorder> recorder_;
  std::unique_ptr<delivery::Courier> courier_;
  std::unique_ptr<rules::Engine> engine_;  // last: its end tells the recorder
  bool record_failed_ = false;
  std::vector<events::SubscribedRecord> keepers_;  // of the program that keeps the ledger
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
