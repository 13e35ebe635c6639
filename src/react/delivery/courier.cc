#include "react/delivery/courier.h"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/crc32c.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "react/delivery/absent_subscription.h"
#include "react/delivery/event_notice.h"
#include "react/delivery/lane.h"
#include "react/delivery/request_folder.h"
#include "react/match/matcher.h"

namespace trainwarden::delivery {
namespace {

using events::Event;
using events::SubscribedRecord;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookInterval{1'000};
constexpr milliseconds kLongestTimeout{std::chrono::hours(24 * 365)};
constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();

// Which lanes of one format an event is for.
class FormatRouter {
 public:
  FormatRouter(EventFormat format, const std::vector<std::shared_ptr<Lane>>& lanes) : format_(format) {
    match::MatcherBuilder builder;
    for (const auto& lane : lanes) {
      if (lane->subscription().format != format) continue;
      builder.add(lane->subscription().pattern);
      lanes_.push_back(lane);
    }
    if (!lanes_.empty()) matcher_ = builder.build();
  }

  void route(const Event& event) const {
    const bool wanted = std::any_of(lanes_.begin(), lanes_.end(),
                                    [&](const std::shared_ptr<Lane>& lane) { return event.seq >= lane->first_seq(); });
    if (!wanted) return;
    const auto numbers = matcher_->match(document_of(event, format_));
    if (!numbers.ok()) {
      log(LogLevel::kError, "event {} is delivered to nobody: {}", event.seq, numbers.status().to_string());
      return;
    }
    for (const std::uint32_t number : *numbers) {
      if (event.seq >= lanes_[number]->first_seq()) lanes_[number]->offer(event.seq);
    }
  }

 private:
  EventFormat format_;
  std::vector<std::shared_ptr<Lane>> lanes_;
  std::optional<match::Matcher> matcher_;  // none without lanes
};

// The record of the subscription as it is from now on, written down when it is another than the ledger has.
SubscribedRecord subscribe(events::Ledger& ledger, const Subscription& subscription, std::int64_t now) {
  SubscribedRecord record;
  record.subscription = subscription.name;
  record.action = subscription.action->name();
  record.place = subscription.action->place();
  record.config = subscription.config;
  record.from_seq = subscription.from_now ? ledger.last_seq() + 1 : 1;
  record.unix_ns = now;
  for (const SubscribedRecord& known : ledger.subscribed()) {
    if (known.subscription != record.subscription) continue;
    record.from_seq = known.from_seq;
    if (known.action == record.action && known.place == record.place && known.config == record.config) return known;
  }
  ledger.record(record);
  return record;
}

std::shared_ptr<Lane> make_lane(events::Ledger& ledger, Subscription subscription,
                                const std::shared_ptr<LaneCircle>& circle, std::uint64_t jitter_seed) {
  const SubscribedRecord subscribed = subscribe(ledger, subscription, circle->clock.unix_ns());
  LaneHistory history = fold_history(ledger.deliveries(subscription.name), ledger.last_seq(),
                                     [&](std::uint64_t seq) { return ledger.event(seq).subject; });
  const std::uint64_t first = std::max(subscribed.from_seq, history.highest_seq + 1);
  const std::uint64_t seed = jitter_seed ^ crc32c(as_bytes(subscription.name));
  return std::make_shared<Lane>(ledger, std::move(subscription), std::move(history), first, circle, seed);
}

}  // namespace

class Courier::Impl {
 public:
  Impl(events::Ledger& ledger, std::vector<Subscription> subscriptions, CourierOptions options)
      : ledger_(ledger),
        patience_(options.patience),
        circle_(std::make_shared<LaneCircle>(options.run_name, options.run, *options.clock,
                                             std::move(options.on_delivery))),
        requests_(ledger.storage(), options.run_id) {
    const auto seed =
        options.jitter_seed != 0 ? options.jitter_seed : static_cast<std::uint64_t>(options.clock->unix_ns());
    for (Subscription& subscription : subscriptions) {
      lanes_.push_back(make_lane(ledger, std::move(subscription), circle_, seed));
    }
    routers_.emplace_back(EventFormat::kCloudEvents, lanes_);
    routers_.emplace_back(EventFormat::kEventBridge, lanes_);
    look_at_requests();  // before a thread makes dead letters that an old request does not mean
    for (const auto& lane : lanes_) lane->start();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  ~Impl() { stop(); }

  Backlog backlog() {
    route();
    Backlog backlog;
    for (const auto& lane : lanes_) {
      const Lane::Standing standing = lane->standing();
      backlog.pending += standing.pending;
      backlog.dead += standing.dead;
    }
    return backlog;
  }

  bool wait_until(bool Lane::Standing::*state, milliseconds timeout, const std::stop_token& stop) {
    const auto deadline = steady_clock::now() + std::min(timeout, kLongestTimeout);
    for (;;) {
      const std::uint64_t seen = circle_->changes();
      route();
      const bool reached =
          std::all_of(lanes_.begin(), lanes_.end(), [state](const auto& lane) { return lane->standing().*state; });
      if (reached) return true;
      if (stop.stop_requested() || thread_.get_stop_token().stop_requested() || steady_clock::now() >= deadline) {
        return false;
      }
      circle_->wait_for_change(seen, deadline, stop);
    }
  }

  std::size_t request(const format::DeliveryRequest& request, std::int64_t cutoff_unix_ns) {
    std::size_t moved = 0;
    for (const auto& lane : lanes_) moved += lane->take(request, cutoff_unix_ns);
    const std::scoped_lock lock(absent_mutex_);  // one request after the other
    for (AbsentSubscription& absent : absent_subscriptions()) {
      moved += absent.take(request, cutoff_unix_ns, circle_->clock.unix_ns());
    }
    return moved;
  }

  void wake() {
    look_at_requests();
    for (const auto& lane : lanes_) lane->wake();
    circle_->note_change();
  }

  void stop() {
    const std::scoped_lock lock(stop_mutex_);
    thread_.request_stop();
    for (const auto& lane : lanes_) lane->ask_to_stop();
    circle_->note_change();
    if (thread_.joinable()) thread_.join();
    const auto deadline = steady_clock::now() + patience_;
    for (const auto& lane : lanes_) {
      if (lane->join_until(deadline)) continue;
      log(LogLevel::kWarning,
          "{} did not return within {} s of being asked to; it is left behind, and delivers again "
          "at the next start",
          printable(lane->subscription().name), patience_.count() / 1000);
    }
  }

 private:
  void run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "tw-courier");
    while (!stop.stop_requested()) {
      const std::uint64_t routed = route();
      look_at_requests();
      ledger_.wait_after(routed, kLookInterval, stop);
    }
  }

  // Offers each new event to the lanes that it is for. Returns the last one's number.
  std::uint64_t route() {
    const std::scoped_lock lock(route_mutex_);
    for (const std::uint64_t last = ledger_.last_seq(); routed_ < last; ++routed_) {
      const Event event = ledger_.event(routed_ + 1);
      for (const FormatRouter& router : routers_) router.route(event);
    }
    return routed_;
  }

  void look_at_requests() {
    const std::scoped_lock lock(requests_mutex_);
    for (const RequestFolder::Found& found : requests_.look()) {
      const std::size_t moved = request(found.request, found.old ? cutoff_of(found.request) : kEver);
      if (moved == 0 && !found.old) {
        log(LogLevel::kWarning, "{} names no dead letter", format::delivery_request_path(found.request.key));
      }
    }
  }

  // What has died since an old request was made, or was first carried out, is not meant by it.
  std::int64_t cutoff_of(const format::DeliveryRequest& request) const {
    std::vector<std::int64_t> heard;
    for (const auto& lane : lanes_) heard.push_back(lane->heard_unix_ns(request.key));
    for (const AbsentSubscription& absent : absent_subscriptions()) heard.push_back(absent.heard_unix_ns(request.key));
    std::erase(heard, 0);
    const auto first = std::min_element(heard.begin(), heard.end());
    return first == heard.end() ? request.unix_ns : std::max(*first, request.unix_ns);
  }

  std::vector<AbsentSubscription> absent_subscriptions() const {
    std::vector<AbsentSubscription> absent;
    for (const SubscribedRecord& known : ledger_.subscribed()) {
      const bool here = std::any_of(lanes_.begin(), lanes_.end(), [&](const std::shared_ptr<Lane>& lane) {
        return lane->subscription().name == known.subscription;
      });
      if (!here) absent.emplace_back(ledger_, known.subscription);
    }
    return absent;
  }

  events::Ledger& ledger_;
  const milliseconds patience_;
  const std::shared_ptr<LaneCircle> circle_;
  std::vector<std::shared_ptr<Lane>> lanes_;
  std::vector<FormatRouter> routers_;
  std::mutex route_mutex_;
  std::uint64_t routed_ = 0;
  std::mutex absent_mutex_;
  std::mutex requests_mutex_;
  RequestFolder requests_;
  std::mutex stop_mutex_;
  std::jthread thread_;
};

Courier::Courier(events::Ledger& ledger, std::vector<Subscription> subscriptions, CourierOptions options)
    : impl_(std::make_unique<Impl>(ledger, std::move(subscriptions), std::move(options))) {}
Courier::~Courier() = default;

Backlog Courier::backlog() const {
  return impl_->backlog();
}
bool Courier::drain(milliseconds timeout, const std::stop_token& stop) {
  return impl_->wait_until(&Lane::Standing::idle, timeout, stop);
}
bool Courier::settle(milliseconds timeout, const std::stop_token& stop) {
  return impl_->wait_until(&Lane::Standing::settled, timeout, stop);
}
std::size_t Courier::request(const format::DeliveryRequest& request) {
  return impl_->request(request, kEver);
}
void Courier::wake() {
  impl_->wake();
}
void Courier::stop() {
  impl_->stop();
}

}  // namespace trainwarden::delivery
