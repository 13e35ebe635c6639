#include "work/launch/judging.h"

#include <chrono>

#include <fmt/format.h>

#include "core/base/pause.h"
#include "read/trial/trial_access.h"
#include "work/launch/watch_pace.h"

namespace trainwarden::launch {
namespace {

constexpr std::chrono::milliseconds kWatchAppearInterval{20};
constexpr std::chrono::milliseconds kWatchPollInterval{5};
// Where no rule judges there is no hurry.
constexpr std::chrono::milliseconds kRecordInterval{50};
// For deliveries that are on their way when there is nothing left to judge.
constexpr std::chrono::seconds kSettleTime{30};
// After which a person who sees nothing happen is shown why.
constexpr std::chrono::seconds kWatchPatience{1};

}  // namespace

Judging::Judging(JudgingPlan plan, Observer& observer) : plan_(std::move(plan)), observer_(observer) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Judging::~Judging() = default;

bool Judging::done() const {
  return ended_future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void Judging::program_ended(const events::ProgramEnd& end) {
  {
    std::lock_guard lock(mutex_);
    program_end_ = end;
    program_ended_ = true;
  }
  ended_early_.notify_all();
}

JudgingResult Judging::result() {
  thread_.request_stop();
  thread_.join();
  return std::move(result_);
}

void Judging::work(const std::stop_token& stop) {
  try {
    result_.status = await_run(stop);
    if (result_.status.ok()) result_.status = start();
    if (result_.status.ok()) {
      judge(stop);
      settle(stop);
    }
  } catch (const std::exception& error) {
    result_.status = Status(Code::kInternal, fmt::format("judging the run failed: {}", error.what()));
  }
  observer_.on_end();
  ended_.set_value();
}

Status Judging::await_run(const std::stop_token& stop) {
  while (true) {
    // Asked for before the look, so that a run that appeared in between is seen.
    const bool last_look = program_ended_ || stop.stop_requested();
    auto trial = Trial::open(plan_.run);
    if (trial.ok()) {
      trial_ = std::move(trial).value();
      return {};
    }
    if (last_look || trial.status().code() != Code::kNotFound) return trial.status();
    pause_for(kWatchAppearInterval, stop);
  }
}

Status Judging::start() {
  if (plan_.asks_training) TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial_, "a request"));
  watch::RunWatchOptions options;
  options.mute = plan_.mute;
  options.subscribe = plan_.subscribe;
  options.own_program = plan_.own_program;
  options.on_verdict = [this](const rules::VerdictRecord& verdict) { observer_.on_verdict(verdict); };
  options.on_event = [this](const events::Event& event) { observer_.on_event(event); };
  options.on_delivery = [this](const events::DeliveryRecord& delivery, const events::Event& event) {
    std::lock_guard lock(mutex_);
    deliveries_.emplace_back(delivery, event);
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(watch_, watch::RunWatch::start(*trial_, std::move(plan_.rules), std::move(options)));
  const Status& journal = watch_->engine().journal_status();
  if (!journal.ok()) observer_.on_note("verdicts are not kept: " + journal.message());
  if (!watch_->note().empty()) observer_.on_note(watch_->note());
  return {};
}

void Judging::judge(const std::stop_token& stop) {
  rules::Engine& engine = watch_->engine();
  const WatchPace pace(plan_.budget, engine.statuses().empty() ? kRecordInterval : kWatchPollInterval);
  if (plan_.budget > 0) give_way();
  while (true) {
    // Without a budget only looking is paced: what is there is judged at once.
    const auto taken_ns = [&] { return plan_.budget > 0 ? thread_cpu_ns() : TrialAccess::refresh_ns(*trial_); };
    const std::int64_t begin_ns = taken_ns();
    take_program_end();
    result_.status = watch_->poll(stop);
    caught_up_ = trial_->last_complete_step() <= engine.last_judged_step();
    show_deliveries();
    observer_.on_progress(*trial_, engine);
    if (is_over(stop)) break;
    pause(pace.after(taken_ns() - begin_ns), stop);
  }
  take_program_end();
  watch_->finish();
  result_.report = watch::report_of(engine);
  result_.journal = engine.journal_name();
  result_.run_ended = engine.run_ended();
}

// Nobody waits for the next look at a program that has ended.
void Judging::pause(std::chrono::milliseconds interval, const std::stop_token& stop) {
  if (program_ended_) return pause_for(kWatchPollInterval, stop);
  std::unique_lock lock(mutex_);
  ended_early_.wait_for(lock, stop, interval, [this] { return program_ended_.load(); });
}

// The run may be closed before its program ends, and how that ended belongs to the run's record.
bool Judging::is_over(const std::stop_token& stop) const {
  const bool passing = result_.status.code() == Code::kUnavailable;
  if (stop.stop_requested() || (!result_.status.ok() && !passing)) return true;
  return watch_->engine().run_ended() && (!plan_.own_program || program_ended_);
}

void Judging::take_program_end() {
  std::lock_guard lock(mutex_);
  if (program_end_) watch_->program_ended(*std::exchange(program_end_, std::nullopt));
}

void Judging::settle(const std::stop_token& stop) {
  settling_ = true;
  const auto start = std::chrono::steady_clock::now();
  bool warned = false;
  const auto idle = [&] {
    show_deliveries();
    if (std::chrono::steady_clock::now() - start < kWatchPatience || std::exchange(warned, true)) return;
    observer_.on_note(fmt::format("{} deliveries are waited for, {} s at most; Ctrl-C leaves them to `events deliver`",
                                  watch_->backlog().pending, kSettleTime.count()));
  };
  static_cast<void>(watch_->settle(kSettleTime, idle, stop));  // the backlog shows it
  result_.backlog = watch_->backlog();
  if (trial_->state() == RunState::kStopped) result_.stop_requested = true;
  watch_.reset();
  show_deliveries();
}

void Judging::show_deliveries() {
  std::vector<std::pair<events::DeliveryRecord, events::Event>> deliveries;
  {
    std::lock_guard lock(mutex_);
    deliveries.swap(deliveries_);
  }
  for (const auto& [delivery, event] : deliveries) {
    observer_.on_delivery(delivery, event);
    if (delivery.action == "stop" && delivery.state == events::DeliveryState::kDelivered) result_.stop_requested = true;
  }
}

}  // namespace trainwarden::launch
