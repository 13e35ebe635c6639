#include "work/job_events/deliverer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "react/delivery/courier.h"
#include "work/job_events/event_collector.h"
#include "work/job_events/event_folder.h"
#include "work/job_events/standing_wiring.h"
#include "work/job_events/subscription_folder.h"

namespace trainwarden::job_events {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTick{100};
constexpr milliseconds kSubscriptionsInterval{500};
constexpr milliseconds kOverInterval{2'000};
constexpr std::int64_t kSubmissionNs = 60'000'000'000;  // a job may come so long after its marker
constexpr int kLedgerTries = 100;                       // who decides about dead letters has it for a moment

// What happened from `unix_ns` on begins there.
std::uint64_t first_seq_since(const events::Ledger& ledger, std::int64_t unix_ns) {
  std::uint64_t seq = 1;
  while (seq <= ledger.last_seq() && ledger.event(seq).unix_ns < unix_ns) ++seq;
  return seq;
}

class Deliverer {
 public:
  Deliverer(const std::filesystem::path& jobs, const Clock& clock, DelivererSurroundings surroundings)
      : jobs_(std::filesystem::absolute(jobs)),
        clock_(clock),
        around_(std::move(surroundings)),
        kinds_(kinds_for_jobs(around_.kinds, jobs_)),
        folder_(jobs_),
        subscriptions_(jobs_) {}

  Status run() {
    for (;;) {
      Result<std::unique_ptr<storage::Lease>> lease = folder_.take_lease(clock_);
      if (lease.status().code() == Code::kAlreadyExists) return Status();
      TRAINWARDEN_RETURN_IF_ERROR(lease.status());
      TRAINWARDEN_RETURN_IF_ERROR(open_ledger());
      const Result<bool> go_on = deliver(**lease);
      close();
      TRAINWARDEN_RETURN_IF_ERROR(go_on.status());
      TRAINWARDEN_RETURN_IF_ERROR((*lease)->end());
      lease = Status(Code::kCancelled, "freed");
      // Who came in between saw that somebody delivers.
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, folder_.markers().names());
      if (!*go_on || names.empty()) return Status();
    }
  }

 private:
  Status open_ledger() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info, folder_.info(clock_));
    info_ = info;
    for (int left = kLedgerTries;; --left) {
      auto ledger = events::Ledger::open(folder_.place().storage(), clock_, info);
      if (ledger.ok()) {
        ledger_ = *std::move(ledger);
        collector_ = std::make_unique<EventCollector>(storage::Location(jobs_), *ledger_);
        return Status();
      }
      if (ledger.status().code() != Code::kAlreadyExists || left == 0 || !around_.pause(kTick)) return ledger.status();
    }
  }

  void close() {
    courier_.reset();
    collector_.reset();
    ledger_.reset();
  }

  // False when this process is to end.
  Result<bool> deliver(storage::Lease& lease) {
    steady_clock::time_point busy_at = steady_clock::now();
    while (steady_clock::now() - busy_at < around_.idle) {
      if (const Status beat = lease.beat(); !beat.ok()) {
        log(LogLevel::kWarning, "who delivers the events of jobs cannot renew its lease: {}", beat.message());
      }
      ledger_->beat();
      look_at_subscriptions();
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool is_done, collect());
      TRAINWARDEN_RETURN_IF_ERROR(ledger_->status());
      if (!is_done) busy_at = steady_clock::now();
      if (!around_.pause(kTick)) return false;
    }
    return true;
  }

  // The courier is made anew when there are others. What was on its way is made again by the next one.
  void look_at_subscriptions() {
    if (courier_ != nullptr && steady_clock::now() < subscriptions_at_) return;
    subscriptions_at_ = steady_clock::now() + kSubscriptionsInterval;
    std::string signature = subscriptions_.signature();
    if (courier_ != nullptr && signature == signature_) return;
    signature_ = std::move(signature);
    courier_.reset();
    delivery::CourierOptions options;
    options.run_id = journal::run_identity(info_);
    options.clock = &clock_;
    options.on_delivery = [](const events::DeliveryRecord& record, const events::Event& event) {
      report_failure(record, event);
    };
    courier_ = std::make_unique<delivery::Courier>(*ledger_, all_subscriptions(), std::move(options));
  }

  static void report_failure(const events::DeliveryRecord& record, const events::Event& event) {
    using State = events::DeliveryState;
    if (record.state != State::kWaiting && record.state != State::kDead) return;
    log(LogLevel::kWarning, "{}: {}: {}: {}", printable(record.subscription), printable(event.headline),
        name(record.state), printable(record.message));
  }

  // One that cannot be delivered to is logged, and holds nobody else up: its events stay in the ledger.
  std::vector<delivery::Subscription> all_subscriptions() {
    std::vector<delivery::Subscription> all;
    for (const std::string& name : subscriptions_.names().value_or({})) {
      const Status taken = add_subscription(name, all);
      if (!taken.ok()) log(LogLevel::kError, "nothing is delivered to {}: {}", name, taken.message());
    }
    return all;
  }

  Status add_subscription(const std::string& name, std::vector<delivery::Subscription>& all) {
    TRAINWARDEN_ASSIGN_OR_RETURN(StandingSubscription standing, subscriptions_.read(name));
    standing.name = name;  // that of its file
    TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Subscription made, subscribe_standing(standing, kinds_, subscriptions_));
    note_beginning(standing, made);
    all.push_back(std::move(made));
    return Status();
  }

  // One that is new to the ledger, or was removed and made again, gets what happened since it was made.
  void note_beginning(const StandingSubscription& standing, const delivery::Subscription& made) {
    const std::vector<events::SubscribedRecord> all = ledger_->subscribed();
    const auto known = std::find_if(all.begin(), all.end(), [&](const events::SubscribedRecord& record) {
      return record.subscription == standing.name;
    });
    if (known != all.end() && known->unix_ns >= standing.created_unix_ns) return;
    events::SubscribedRecord record;
    record.subscription = standing.name;
    record.action = made.action->name();
    record.place = made.action->place();
    record.config = made.config;
    record.from_seq = first_seq_since(*ledger_, standing.created_unix_ns);
    record.unix_ns = std::max(clock_.unix_ns(), standing.created_unix_ns);
    ledger_->record(record);
  }

  // True when nothing is to come, and nothing to be delivered. The markers of jobs stay until then: they are what says
  // that somebody has to deliver.
  Result<bool> collect() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_.markers().names());
    std::erase_if(over_, [&](const auto& one) { return !std::binary_search(names.begin(), names.end(), one.first); });
    bool all_over = true;
    for (const std::string& name : names) all_over = is_over(name) && all_over;
    if (!all_over || courier_->backlog().pending > 0) return false;
    for (const std::string& name : names) leave(name);
    return true;
  }

  // Of a job that has ended, or is gone. It is looked at again now and then, as it may be resumed.
  bool is_over(const std::string& name) {
    const auto known = over_.find(name);
    if (known != over_.end() && steady_clock::now() < known->second) return true;
    const Result<bool> ended = collector_->collect(name);
    const bool over = ended.ok() ? *ended : !may_come(name);
    if (over && !ended.ok() && known == over_.end()) {
      log(LogLevel::kWarning, "no more events of {}: {}", name, ended.status().message());
    }
    if (over) over_[name] = steady_clock::now() + kOverInterval;
    if (!over && known != over_.end()) over_.erase(known);
    return over;
  }

  bool may_come(const std::string& name) {
    const auto entered = folder_.markers().entered_unix_ns(name);
    return entered && clock_.unix_ns() - *entered < kSubmissionNs;
  }

  // Somebody may have resumed it between our look and this.
  void leave(const std::string& name) {
    const Status left = folder_.markers().leave(name);
    if (!left.ok()) log(LogLevel::kWarning, "{}", left.message());
    over_.erase(name);
    const Result<bool> ended = collector_->collect(name);
    if (!ended.ok() || *ended) return collector_->forget(name);
    if (const Status entered = folder_.markers().enter(name); !entered.ok()) {
      log(LogLevel::kWarning, "{}", entered.message());
    }
  }

  const std::filesystem::path jobs_;
  const Clock& clock_;
  const DelivererSurroundings around_;
  const std::vector<actions::ActionKind> kinds_;
  EventFolder folder_;
  SubscriptionFolder subscriptions_;
  journal::RunInfo info_;
  std::unique_ptr<events::Ledger> ledger_;
  std::unique_ptr<EventCollector> collector_;
  std::unique_ptr<delivery::Courier> courier_;  // last: it uses the ledger
  std::string signature_;                       // of the subscriptions that it has
  steady_clock::time_point subscriptions_at_;
  std::map<std::string, steady_clock::time_point> over_;  // jobs that have ended: when each is looked at again
};

}  // namespace

Status deliver_job_events(const std::filesystem::path& jobs, const Clock& clock, DelivererSurroundings surroundings) {
  return Deliverer(jobs, clock, std::move(surroundings)).run();
}

}  // namespace trainwarden::job_events
