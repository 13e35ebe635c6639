#include "cli/watch_session.h"

#include <chrono>

#include <fmt/format.h>

#include "actions/by_verdict/black_box_action.h"
#include "actions/by_verdict/stop_action.h"
#include "base/pause.h"
#include "storage/local_storage.h"
#include "trial/trial_access.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kAppearInterval{20};
constexpr std::chrono::milliseconds kPollInterval{5};

}  // namespace

WatchSession::WatchSession(WatchPlan plan, WatchView& view) : plan_(std::move(plan)), view_(view) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

WatchSession::~WatchSession() = default;

bool WatchSession::done() const {
  return ended_future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

WatchResult WatchSession::result() {
  thread_.request_stop();
  thread_.join();
  return std::move(result_);
}

void WatchSession::work(const std::stop_token& stop) {
  try {
    result_.status = await_run(stop);
    if (result_.status.ok() && plan_.stop_on_fire) {
      result_.status = TrialAccess::check_writable(*trial_, "a request to stop");
    }
    if (result_.status.ok()) judge(stop);
  } catch (const std::exception& error) {
    result_.status = Status(Code::kInternal, fmt::format("judging the run failed: {}", error.what()));
  }
  view_.end();
  ended_.set_value();
}

Status WatchSession::await_run(const std::stop_token& stop) {
  while (true) {
    // Asked for before the look, so that a run that appeared in between is seen.
    const bool last_look = program_ended_ || stop.stop_requested();
    auto trial = Trial::open(plan_.run);
    if (trial.ok()) {
      trial_ = std::move(trial).value();
      return {};
    }
    if (last_look || trial.status().code() != Code::kNotFound) return trial.status();
    pause_for(kAppearInterval, stop);
  }
}

void WatchSession::judge(const std::stop_token& stop) {
  storage_ = storage::open_local_storage(plan_.run);
  const auto on_verdict = [this, stop](const rules::VerdictRecord& verdict) { act_on(verdict, stop); };
  rules::EngineOptions options;
  options.journal_storage = storage_.get();
  options.mute = plan_.mute;
  engine_ = std::make_unique<rules::Engine>(*trial_, std::move(plan_.rules), options, on_verdict);
  if (!engine_->journal_status().ok()) view_.on_note("verdicts are not kept: " + engine_->journal_status().message());
  while (true) {
    result_.status = engine_->poll(stop);
    caught_up_ = trial_->last_complete_step() <= engine_->last_judged_step();
    view_.on_progress(*trial_, *engine_);
    const bool passing = result_.status.code() == Code::kUnavailable;
    if (engine_->run_ended() || stop.stop_requested() || (!result_.status.ok() && !passing)) break;
    pause_for(kPollInterval, stop);
  }
  engine_->finish();
  result_.report = report_of(*engine_);
  result_.journal = engine_->journal_name();
  result_.run_ended = engine_->run_ended();
}

void WatchSession::set_up_actions() {
  const auto write_down = [this](std::int64_t step, std::string_view json) {
    return engine_->record_action(step, json);
  };
  dispatcher_ = std::make_unique<actions::by_verdict::Dispatcher>(engine_->journal_name(), write_down);
  if (trial_->state() == RunState::kRunning && actions::by_verdict::BlackBoxAction::is_of_use(*storage_)) {
    dispatcher_->add(std::make_unique<actions::by_verdict::BlackBoxAction>(*storage_));
  }
  if (!plan_.stop_on_fire) return;
  const auto answered = [this](std::string_view) -> Result<bool> {
    TRAINWARDEN_RETURN_IF_ERROR(trial_->refresh());
    return TrialAccess::stop_accepted(*trial_) || trial_->state() != RunState::kRunning;
  };
  dispatcher_->add(std::make_unique<actions::by_verdict::StopAction>(*storage_, answered));
}

void WatchSession::act_on(const rules::VerdictRecord& verdict, const std::stop_token& stop) {
  view_.on_verdict(verdict);
  if (!verdict.alarms()) return;
  if (dispatcher_ == nullptr) set_up_actions();  // now it is known what the training can do
  const actions::by_verdict::FiredVerdict fired{verdict.rule_id, verdict.place.global_step,
                                                rules::step_text(verdict.place), verdict.verdict};
  for (const actions::by_verdict::ActionOutcome& outcome : dispatcher_->dispatch(fired, stop)) {
    view_.on_action(outcome);
    if (outcome.action == "stop") result_.stop_requested = true;
  }
}

}  // namespace trainwarden::cli
