#include "react/delivery/lane.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "react/actions/prepared.h"
#include "react/delivery/event_notice.h"
#include "react/delivery/retry_schedule.h"

namespace trainwarden::delivery {
namespace {

using actions::ActionOutcome;
using events::DeliveryRecord;
using events::DeliveryState;
using events::Event;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// The wall clock may be put forward while somebody waits for it.
constexpr std::int64_t kLongestLookNs = 5'000'000'000;
constexpr std::int64_t kShortestLookNs = 1'000'000;
constexpr std::size_t kMaxThreadName = 15;

std::int64_t ns(milliseconds time) {
  return std::chrono::duration_cast<nanoseconds>(time).count();
}

std::string because(const ActionOutcome& outcome) {
  return outcome.status.ok() ? "the action did not say why" : outcome.status.to_string();
}

}  // namespace

std::string asked_for_by(const format::DeliveryRequest& request) {
  return fmt::format("asked for by {}", printable(request.requested_by));
}

void LaneCircle::report(const DeliveryRecord& record, const Event& event) {
  if (!on_delivery_) return;
  const std::scoped_lock lock(report_mutex_);
  try {
    on_delivery_(record, event);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "the observer of a delivery threw: {}", error.what());
  }
}

std::uint64_t LaneCircle::changes() const {
  const std::scoped_lock lock(mutex_);
  return changes_;
}

void LaneCircle::note_change() {
  {
    const std::scoped_lock lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

void LaneCircle::wait_for_change(std::uint64_t seen, std::chrono::steady_clock::time_point deadline,
                                 const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, deadline, [&] { return changes_ != seen; });
}

Lane::Lane(events::Ledger& ledger, Subscription subscription, LaneHistory history, std::uint64_t first_seq,
           std::shared_ptr<LaneCircle> circle, std::uint64_t jitter_seed)
    : circle_(std::move(circle)),
      subscription_(std::move(subscription)),
      action_name_(subscription_.action->name()),
      place_(subscription_.action->place()),
      first_seq_(first_seq),
      begun_unix_ns_(circle_->clock.unix_ns()),
      random_(jitter_seed),
      ledger_(ledger),
      history_(std::move(history)) {}

void Lane::start() {
  thread_ = std::thread([lane = shared_from_this()] { lane->run(); });
}

void Lane::offer(std::uint64_t seq) {
  {
    const std::scoped_lock lock(mutex_);
    history_.open.try_emplace(seq);
    ++wakes_;
  }
  changed_.notify_all();
}

void Lane::wake() {
  {
    const std::scoped_lock lock(mutex_);
    ++wakes_;
  }
  changed_.notify_all();
}

std::size_t Lane::take(const format::DeliveryRequest& request, std::int64_t cutoff_unix_ns) {
  if (!request.subscription.empty() && request.subscription != subscription_.name) return 0;
  const bool redrive = request.kind == format::DeliveryRequest::Kind::kRedrive;
  std::vector<std::pair<DeliveryRecord, Event>> moved;
  {
    const std::scoped_lock lock(mutex_);
    for (const std::uint64_t seq : letters_meant(history_, request, cutoff_unix_ns)) {
      Event event = ledger_.event(seq);
      DeliveryRecord record = record_of(event, redrive ? DeliveryState::kRedriven : DeliveryState::kDropped,
                                        history_.dead.at(seq).attempts);
      record.message = asked_for_by(request);
      record.request = request.key;
      write(record, event);
      moved.emplace_back(std::move(record), std::move(event));
    }
    ++wakes_;
  }
  for (const auto& [record, event] : moved) circle_->report(record, event);
  changed_.notify_all();
  circle_->note_change();
  return moved.size();
}

std::int64_t Lane::heard_unix_ns(const std::string& request_key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = history_.request_unix_ns.find(request_key);
  return found == history_.request_unix_ns.end() ? 0 : found->second;
}

Lane::Standing Lane::standing() const {
  const std::scoped_lock lock(mutex_);
  const bool waits =
      !busy_ && (history_.open.empty() || !history_.open.begin()->second.is_due(circle_->clock.unix_ns()));
  return {.pending = history_.open.size(),
          .dead = history_.dead.size(),
          .idle = !busy_ && history_.open.empty(),
          .settled = waits};
}

void Lane::ask_to_stop() {
  stop_.request_stop();
}

bool Lane::join_until(std::chrono::steady_clock::time_point deadline) {
  Lock lock(mutex_);
  if (!thread_.joinable()) return !abandoned_;
  if (changed_.wait_until(lock, deadline, [this] { return exited_; })) {
    lock.unlock();
    thread_.join();
    return true;
  }
  abandoned_ = true;
  thread_.detach();
  return false;
}

void Lane::run() {
  const std::string name = fmt::format("tw-{}", subscription_.name);
  ::pthread_setname_np(::pthread_self(), name.substr(0, kMaxThreadName).c_str());
  if (auto* const prepared = dynamic_cast<actions::Prepared*>(subscription_.action.get())) prepared->prepare();
  Lock lock(mutex_);
  while (!stop_.stop_requested() && !abandoned_) {
    if (history_.open.empty()) {
      wait(lock, kNever);
      continue;
    }
    const auto& [seq, open] = *history_.open.begin();
    if (!open.is_due(circle_->clock.unix_ns())) {
      wait(lock, open.next_unix_ns);
      continue;
    }
    work_on(lock, seq);
  }
  exited_ = true;
  changed_.notify_all();
}

void Lane::wait(Lock& lock, std::int64_t until_unix_ns) {
  const auto woken = [this, seen = wakes_] { return wakes_ != seen; };
  const auto stop = stop_.get_token();
  if (until_unix_ns == kNever) {
    changed_.wait(lock, stop, woken);
    return;
  }
  const std::int64_t left = until_unix_ns - circle_->clock.unix_ns();
  changed_.wait_for(lock, stop, nanoseconds(std::clamp(left, kShortestLookNs, kLongestLookNs)), woken);
}

// One event: it is left out, given up, or tried once.
void Lane::work_on(Lock& lock, std::uint64_t seq) {
  busy_ = true;
  const Event event = ledger_.event(seq);
  const OpenDelivery open = history_.open.at(seq);
  DeliveryRecord record;
  if (event.type == events::kLostType) {
    record = record_of(event, DeliveryState::kDead, open.attempts);
    record.message = "the ledger is damaged where the event was";
  } else if (history_.target_gone) {
    record = record_of(event, DeliveryState::kDead, open.attempts);
    record.message = "not sent: the target has said that it is gone; redrive a dead letter to send there again";
    record.target_gone = true;
  } else if (is_cooling_down(open, event)) {
    record = record_of(event, DeliveryState::kSuppressed, open.attempts);
    record.message = fmt::format("another event of {} was delivered less than {} ago", event.subject,
                                 format_duration_ns(ns(subscription_.cool_down)));
  } else {
    record = attempt(lock, seq, event);
  }
  if (abandoned_) return;
  write(record, event);
  lock.unlock();
  circle_->report(record, event);
  lock.lock();
  busy_ = false;
  lock.unlock();
  circle_->note_change();
  lock.lock();
}

bool Lane::is_cooling_down(const OpenDelivery& open, const Event& event) const {
  if (open.attempts > 0 || open.redriven || subscription_.cool_down.count() <= 0) return false;
  const auto last = history_.delivered_unix_ns.find(event.subject);
  if (last == history_.delivered_unix_ns.end()) return false;
  // The delivery may be another process's, so it is the wall clock that counts. Below 0 it was put back since: an alert
  // too many is better than none for that long.
  const std::int64_t passed_ns = circle_->clock.unix_ns() - last->second;
  return passed_ns >= 0 && passed_ns < ns(subscription_.cool_down);
}

ActionOutcome Lane::act(const actions::EventNotice& notice) noexcept {
  try {
    return subscription_.action->run(notice, stop_.get_token());
  } catch (const std::exception& error) {
    return ActionOutcome::try_again(Status(Code::kInternal, fmt::format("the action threw: {}", error.what())));
  } catch (...) {
    return ActionOutcome::try_again(Status(Code::kInternal, "the action threw what is no std::exception"));
  }
}

// Writes that it begins, lets the action run without the lock, and returns what came of it.
DeliveryRecord Lane::attempt(Lock& lock, std::uint64_t seq, const Event& event) {
  const int number = history_.open.at(seq).attempts + 1;
  write(record_of(event, DeliveryState::kStarted, number), event);
  const std::int64_t begin = circle_->clock.steady_ns();
  lock.unlock();
  actions::EventNotice notice = make_notice(event, subscription_.format, circle_->run_name, circle_->run, number);
  notice.requested_by = subscription_.name;
  const ActionOutcome outcome = act(notice);
  lock.lock();
  if (abandoned_) return {};  // ledger and clock may be gone
  DeliveryRecord record = record_of(event, DeliveryState::kDelivered, number);
  record.answer = outcome.answer;
  record.duration_ns = circle_->clock.steady_ns() - begin;
  switch (outcome.kind) {
    case ActionOutcome::Kind::kDone: break;
    case ActionOutcome::Kind::kTryAgain: judge_failure(history_.open.at(seq), event, outcome, record); break;
    case ActionOutcome::Kind::kTargetGone: record.target_gone = true; [[fallthrough]];
    case ActionOutcome::Kind::kGiveUp:
      record.state = DeliveryState::kDead;
      record.message = because(outcome);
      break;
  }
  return record;
}

// Is it tried once more, and when?
void Lane::judge_failure(const OpenDelivery& open, const Event& event, const ActionOutcome& outcome,
                         DeliveryRecord& record) {
  const RetryPolicy& retry = subscription_.retry;
  const int attempts = open.attempts - open.attempts_before;
  record.state = DeliveryState::kWaiting;
  record.message = because(outcome);
  if (stop_.stop_requested()) {  // the next courier makes it again; this attempt is not held against it
    record.next_unix_ns = record.unix_ns;
    return;
  }
  record.next_unix_ns = record.unix_ns + ns(pause_after(retry, attempts, outcome.retry_after, random_));
  // An event from before anybody delivered is as old as our knowledge of it.
  const std::int64_t known_since = std::min(open.since_unix_ns, begun_unix_ns_);
  const std::int64_t born = open.redriven ? open.since_unix_ns : std::max(event.unix_ns, known_since);
  const bool too_often = attempts >= retry.max_attempts;
  const bool too_old = record.next_unix_ns - born > ns(retry.max_age);
  if (!too_often && !too_old) return;
  record.state = DeliveryState::kDead;
  record.next_unix_ns = 0;
  record.message = too_often ? fmt::format("given up after {} attempts: {}", attempts, record.message)
                             : fmt::format("given up, as it would be older than {} at the next attempt: {}",
                                           format_duration_ns(ns(retry.max_age)), record.message);
}

DeliveryRecord Lane::record_of(const Event& event, DeliveryState state, int attempts) const {
  DeliveryRecord record;
  record.subscription = subscription_.name;
  record.action = action_name_;
  record.place = place_;
  record.seq = event.seq;
  record.event_id = event.id;
  record.key = event.key;
  record.state = state;
  record.attempt = attempts;
  record.unix_ns = circle_->clock.unix_ns();
  return record;
}

void Lane::write(const DeliveryRecord& record, const Event& event) {
  ledger_.record(record);
  take_record(history_, record, event.subject);
}

}  // namespace trainwarden::delivery
