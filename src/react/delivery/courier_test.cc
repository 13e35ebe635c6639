#include "react/delivery/courier.h"

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>

#include <fmt/format.h>

#include "data/format/json.h"
#include "react/delivery/delivery_testing.h"
#include "react/delivery/lane_history.h"

namespace trainwarden::delivery {
namespace {

using actions::ActionOutcome;
using actions::EventNotice;
using events::DeliveryRecord;
using events::DeliveryState;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr milliseconds kLong = kLongEnough;

class CourierTest : public ::testing::Test {
 protected:
  std::unique_ptr<Courier> start(std::vector<Subscription> subscriptions, milliseconds patience = kLong) {
    CourierOptions options{.run_name = "first", .run = "/runs/first", .clock = &clock_, .jitter_seed = 7};
    options.on_delivery = [this](const DeliveryRecord& record, const events::Event&) { heard_.add(record); };
    options.patience = patience;
    return std::make_unique<Courier>(*ledger_, std::move(subscriptions), std::move(options));
  }
  void append(const std::string& rule, int step) { ledger_->append(alert_of(rule, step, clock_.unix_ns())); }
  void go_to(std::int64_t unix_ns, Courier& courier) {
    clock_.advance_ns(unix_ns - clock_.unix_ns());
    courier.wake();
  }
  // Lets time pass until nothing waits any more.
  void finish(Courier& courier) {
    while (courier.settle(kLong) && courier.backlog().pending > 0) go_to(clock_.unix_ns() + 3'600 * kSecondNs, courier);
    EXPECT_TRUE(courier.drain(kLong));
  }
  std::vector<DeliveryState> states(const std::string& subscription, std::uint64_t seq) const {
    std::vector<DeliveryState> states;
    for (const DeliveryRecord& record : ledger_->deliveries(subscription)) {
      if (record.seq == seq) states.push_back(record.state);
    }
    return states;
  }
  format::DeliveryRequest request(const std::string& key, format::DeliveryRequest::Kind kind, std::uint64_t seq = 0,
                                  const std::string& subscription = {}) const {
    return {key, kind, subscription, seq, "user", clock_.unix_ns()};
  }

  FakeClock clock_;
  std::unique_ptr<events::Ledger> ledger_ = events::Ledger::in_memory(clock_, sample_run());
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  Heard heard_;
};

using Kind = format::DeliveryRequest::Kind;
using Keys = std::vector<std::string>;
using States = std::vector<DeliveryState>;

TEST_F(CourierTest, DeliversInOrderWhatWasThereAndWhatComes) {
  append("A", 1);
  append("B", 2);
  const auto courier = start(list_of(scripted("ops", calls_)));
  ASSERT_TRUE(courier->drain(kLong));
  append("A", 3);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "B-2", "A-3"}));
  EXPECT_EQ(states("ops", 1), (States{DeliveryState::kStarted, DeliveryState::kDelivered}));
  EXPECT_EQ(courier->backlog().pending, 0);
  EXPECT_EQ(courier->backlog().dead, 0);
}

TEST_F(CourierTest, TellsTheActionOfTheEvent) {
  append("A", 12);
  const auto courier = start(list_of(scripted("ops", calls_)));
  ASSERT_TRUE(courier->drain(kLong));
  const EventNotice notice = calls_->notices().at(0);
  EXPECT_EQ(notice.key, "A-12");
  EXPECT_EQ(notice.event_id, sample_run().id + "-1");
  EXPECT_EQ(notice.type, events::kAlertType);
  EXPECT_EQ(notice.subject, "A");
  EXPECT_EQ(notice.rule, "A");
  EXPECT_EQ(notice.unix_ns, clock_.unix_ns());
  EXPECT_EQ(notice.run_name, "first");
  EXPECT_EQ(notice.run, "/runs/first");
  EXPECT_EQ(notice.headline, "A fired at step 12");
  EXPECT_EQ(notice.text, "look at it");
  EXPECT_EQ(notice.global_step, 12);
  EXPECT_EQ(notice.content_type, "application/cloudevents+json");
  EXPECT_EQ(notice.document, events::encode_event(ledger_->event(1)));
  EXPECT_EQ(notice.requested_by, "ops");
  EXPECT_EQ(notice.attempt, 1);
}

TEST_F(CourierTest, MatchesAndSendsTheFormatThatTheSubscriberWants) {
  append("A", 1);
  auto bridge = scripted("bridge", calls_, {}, R"({"detail-type": ["Trainwarden Training Job Alert"]})");
  bridge.format = EventFormat::kEventBridge;
  const auto others = std::make_shared<Calls>();
  const auto courier = start(list_of(std::move(bridge), scripted("none", others, {}, R"({"detail-type": ["x"]})")));
  ASSERT_TRUE(courier->drain(kLong));
  ASSERT_EQ(calls_->count(), 1);
  EXPECT_EQ(calls_->notices()[0].document, events::encode_as_eventbridge(ledger_->event(1)));
  EXPECT_EQ(calls_->notices()[0].content_type, "application/json");
  EXPECT_EQ(others->count(), 0);
  EXPECT_TRUE(ledger_->deliveries("none").empty());
}

TEST_F(CourierTest, WritesDownWhoSubscribes) {
  append("A", 1);
  auto ops = scripted("ops", calls_);
  ops.config = "/etc/actions.toml";
  start(list_of(std::move(ops)))->stop();
  const auto subscribed = ledger_->subscribed();
  ASSERT_EQ(subscribed.size(), 1);
  EXPECT_EQ(subscribed[0].subscription, "ops");
  EXPECT_EQ(subscribed[0].action, "scripted");
  EXPECT_EQ(subscribed[0].place, "here");
  EXPECT_EQ(subscribed[0].config, "/etc/actions.toml");
  EXPECT_EQ(subscribed[0].from_seq, 1);
}

TEST_F(CourierTest, GivesFromNowOnlyWhatComesAlsoAfterARestart) {
  append("A", 1);
  const auto make = [&] {
    auto ops = scripted("ops", calls_);
    ops.from_now = true;
    return list_of(std::move(ops));
  };
  start(make())->stop();
  append("A", 2);  // while nobody delivers
  const auto courier = start(make());
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-2"}));
}

TEST_F(CourierTest, TriesAgainLaterAndLaterUnderTheSameKey) {
  append("A", 1);
  append("B", 2);
  auto ops = scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    return notice.key == "A-1" && notice.attempt < 6 ? busy() : ActionOutcome::done("204");
  });
  ops.retry = {.first_delay = milliseconds(1'000), .longest_delay = milliseconds(4'000)};
  const auto courier = start(list_of(std::move(ops)));
  const std::int64_t longest_s[] = {1, 2, 4, 4, 4};
  for (std::size_t i = 0; i < 5; ++i) {
    const DeliveryRecord record = heard_.wait_for(i + 1);
    EXPECT_EQ(record.state, DeliveryState::kWaiting);
    EXPECT_EQ(record.attempt, static_cast<int>(i) + 1);
    EXPECT_EQ(record.answer, "503");
    EXPECT_EQ(record.message, "unavailable: busy");
    EXPECT_GE(record.next_unix_ns, record.unix_ns);
    EXPECT_LE(record.next_unix_ns, record.unix_ns + longest_s[i] * kSecondNs);
    if (record.next_unix_ns > record.unix_ns) {
      ASSERT_TRUE(courier->settle(kLong));
      EXPECT_EQ(courier->backlog().pending, 2);  // the second waits behind the first
      EXPECT_EQ(calls_->count(), i + 1);
    }
    go_to(record.next_unix_ns, *courier);
  }
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-1", "A-1", "A-1", "A-1", "A-1", "B-2"}));
  EXPECT_EQ(calls_->notices()[5].attempt, 6);
  EXPECT_EQ(heard_.wait_for(6).answer, "204");
}

TEST_F(CourierTest, WaitsForAsLongAsTheTargetAsks) {
  append("A", 1);
  auto ops = scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    ActionOutcome outcome = notice.attempt == 1 ? busy() : ActionOutcome::done();
    outcome.retry_after = seconds(90);
    return outcome;
  });
  ops.retry.longest_delay = milliseconds(1'000);
  const auto courier = start(list_of(std::move(ops)));
  const DeliveryRecord record = heard_.wait_for(1);
  EXPECT_EQ(record.next_unix_ns, record.unix_ns + 90 * kSecondNs);
  go_to(record.next_unix_ns - 1, *courier);
  ASSERT_TRUE(courier->settle(kLong));
  EXPECT_FALSE(courier->drain(milliseconds(0)));
  go_to(record.next_unix_ns, *courier);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->count(), 2);
}

TEST_F(CourierTest, GivesUpAfterSoManyAttempts) {
  append("A", 1);
  append("B", 2);
  auto ops = scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    return notice.key == "A-1" ? busy() : ActionOutcome::done();
  });
  ops.retry.max_attempts = 3;
  const auto courier = start(list_of(std::move(ops)));
  finish(*courier);
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-1", "A-1", "B-2"}));
  EXPECT_EQ(courier->backlog().dead, 1);
  const DeliveryRecord dead = heard_.wait_for(3);
  EXPECT_EQ(dead.state, DeliveryState::kDead);
  EXPECT_EQ(dead.message, "given up after 3 attempts: unavailable: busy");
  EXPECT_FALSE(dead.target_gone);
}

TEST_F(CourierTest, GivesUpWhatIsTooOld) {
  append("A", 1);
  auto ops = scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return busy(); });
  ops.retry.max_age = milliseconds(60'000);
  const auto courier = start(list_of(std::move(ops)));
  go_to(heard_.wait_for(1).unix_ns + 61 * kSecondNs, *courier);
  const DeliveryRecord dead = heard_.wait_for(2);
  EXPECT_EQ(dead.state, DeliveryState::kDead);
  EXPECT_NE(dead.message.find("older than 1 min"), std::string::npos) << dead.message;
  EXPECT_EQ(calls_->count(), 2);
}

TEST_F(CourierTest, GivesUpWhenTheTargetWantsToBeAskedAfterTheEventIsTooOld) {
  append("A", 1);
  const auto courier = start(list_of(scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) {
    ActionOutcome outcome = busy();
    outcome.retry_after = std::chrono::hours(24 * 3650);
    return outcome;
  })));
  EXPECT_EQ(heard_.wait_for(1).state, DeliveryState::kDead);
}

TEST_F(CourierTest, TriesAnEventFromLongBeforeItBeganAsOftenAsANewOne) {
  append("A", 1);
  clock_.advance_ns(30LL * 24 * 3'600 * kSecondNs);
  const auto courier = start(list_of(scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    return notice.attempt < 3 ? busy() : ActionOutcome::done();
  })));
  finish(*courier);
  EXPECT_EQ(courier->backlog().dead, 0);
  EXPECT_EQ(calls_->count(), 3);
}

TEST_F(CourierTest, GivesUpAtOnceWhatWillNeverWork) {
  append("A", 1);
  append("B", 2);
  const auto courier = start(list_of(scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    return notice.key == "A-1" ? refused() : ActionOutcome::done();
  })));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "B-2"}));
  const DeliveryRecord dead = heard_.wait_for(1);
  EXPECT_EQ(dead.state, DeliveryState::kDead);
  EXPECT_EQ(dead.answer, "400");
  EXPECT_EQ(dead.message, "invalid argument: no such thing");
}

TEST_F(CourierTest, SendsNothingToATargetThatIsGoneUntilSomethingIsRedriven) {
  append("A", 1);
  append("B", 2);
  std::atomic<bool> back = false;
  const Script script = [&back](const EventNotice&, const std::stop_token&) {
    return back ? ActionOutcome::done() : gone();
  };
  auto courier = start(list_of(scripted("ops", calls_, script)));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1"}));
  EXPECT_EQ(states("ops", 2), (States{DeliveryState::kDead}));
  courier = nullptr;
  courier = start(list_of(scripted("ops", calls_, script)));  // it has not forgotten
  append("A", 3);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->count(), 1);
  EXPECT_EQ(courier->backlog().dead, 3);
  back = true;
  EXPECT_EQ(courier->request(request("r-1", Kind::kRedrive, 3)), 1);
  ASSERT_TRUE(courier->drain(kLong));
  append("A", 4);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-3", "A-4"}));
  EXPECT_EQ(courier->backlog().dead, 2);
}

TEST_F(CourierTest, LeavesOutEventsOfTheSameSubjectForAWhile) {
  for (int step = 1; step <= 3; ++step) append("A", step);
  append("B", 4);
  const auto make = [&] {
    auto ops = scripted("ops", calls_);
    ops.cool_down = seconds(10);
    return list_of(std::move(ops));
  };
  auto courier = start(make());
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "B-4"}));
  EXPECT_EQ(states("ops", 2), (States{DeliveryState::kSuppressed}));
  clock_.advance_ns(10 * kSecondNs - 1);
  courier = nullptr;
  courier = start(make());
  append("A", 5);
  ASSERT_TRUE(courier->drain(kLong));
  clock_.advance_ns(1);
  append("A", 6);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "B-4", "A-6"}));
}

TEST_F(CourierTest, AClockThatIsPutBackMutesNothing) {
  auto ops = scripted("ops", calls_);
  ops.cool_down = seconds(10);
  const auto courier = start(list_of(std::move(ops)));
  append("A", 1);
  ASSERT_TRUE(courier->drain(kLong));
  clock_.advance_ns(-3600 * kSecondNs);
  append("A", 2);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-2"}));
  append("A", 3);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-2"})) << "it cools down on the clock as it is now";
}

TEST(OpenDeliveryTest, IsNotHeldUpByAClockThatIsPutBack) {
  const OpenDelivery open{.attempts = 1, .next_unix_ns = 150, .decided_unix_ns = 100};
  EXPECT_FALSE(open.is_due(100));
  EXPECT_FALSE(open.is_due(149));
  EXPECT_TRUE(open.is_due(150));
  EXPECT_TRUE(open.is_due(99));
}

TEST_F(CourierTest, AFailureBeginsNoCoolDown) {
  append("A", 1);
  append("A", 2);
  auto ops = scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    return notice.key == "A-1" ? refused() : ActionOutcome::done();
  });
  ops.cool_down = seconds(10);
  const auto courier = start(list_of(std::move(ops)));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-2"}));
}

TEST_F(CourierTest, ACoolDownHoldsUpNoRedrivenLetter) {
  append("A", 1);
  append("A", 2);
  auto ops = scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    return notice.key == "A-1" && notice.attempt == 1 ? refused() : ActionOutcome::done();
  });
  ops.cool_down = seconds(10);
  const auto courier = start(list_of(std::move(ops)));
  ASSERT_TRUE(courier->drain(kLong));
  ASSERT_EQ(courier->request(request("r-1", Kind::kRedrive)), 1);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-2", "A-1"}));
}

TEST_F(CourierTest, AnActionThatThrowsHasFailed) {
  append("A", 1);
  const auto courier = start(list_of(scripted("ops", calls_, [](const EventNotice& notice, const std::stop_token&) {
    if (notice.attempt == 1) throw std::runtime_error("out of tea");
    if (notice.attempt == 2) throw 7;  // NOLINT
    return ActionOutcome::done();
  })));
  finish(*courier);
  EXPECT_EQ(calls_->count(), 3);
  EXPECT_NE(heard_.wait_for(1).message.find("out of tea"), std::string::npos);
}

TEST_F(CourierTest, AnActionThatHangsHurtsNoOther) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  const auto hanging_calls = std::make_shared<Calls>();
  const auto courier = start(list_of(scripted("hangs", hanging_calls,
                                              [released](const EventNotice&, const std::stop_token&) {
                                                released.wait();
                                                return ActionOutcome::done();
                                              }),
                                     scripted("ops", calls_)));
  for (int step = 1; step <= 20; ++step) append("A", step);
  ASSERT_TRUE(calls_->wait_for(20));
  ASSERT_TRUE(hanging_calls->wait_for(1));
  EXPECT_GE(courier->backlog().pending, 20);
  EXPECT_FALSE(courier->settle(milliseconds(0)));
  release.set_value();
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(hanging_calls->count(), 20);
}

TEST_F(CourierTest, StopInterruptsAnActionAndTheNextCourierMakesItAgain) {
  append("A", 1);
  auto ops = scripted("ops", calls_, [](const EventNotice&, const std::stop_token& stop) {
    std::latch asked(1);
    const std::stop_callback callback(stop, [&] { asked.count_down(); });
    asked.wait();
    return busy();
  });
  ops.retry.max_attempts = 1;  // what was interrupted is not held against it
  const auto courier = start(list_of(std::move(ops)));
  ASSERT_TRUE(calls_->wait_for(1));
  courier->stop();
  EXPECT_EQ(states("ops", 1), (States{DeliveryState::kStarted, DeliveryState::kWaiting}));
  EXPECT_FALSE(courier->drain(kLong));  // nobody delivers any more
  EXPECT_EQ(courier->backlog().pending, 1);
  courier->stop();  // once more does no harm
  const auto next = start(list_of(scripted("ops", calls_)));
  ASSERT_TRUE(next->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-1"}));
  EXPECT_EQ(calls_->notices()[1].attempt, 2);
}

TEST_F(CourierTest, StopWakesWhoWaits) {
  append("A", 1);
  const auto courier =
      start(list_of(scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return busy(); })));
  heard_.wait_for(1);
  auto drained = std::async(std::launch::async, [&] { return courier->drain(kLong); });
  courier->stop();
  EXPECT_FALSE(drained.get());
}

TEST_F(CourierTest, LeavesAnActionBehindThatDoesNotReturn) {
  append("A", 1);
  std::promise<void> release;
  const auto destroyed = std::make_shared<std::latch>(1);
  // Goes with the action, which the thread that was left behind destroys.
  std::shared_ptr<void> at_end(nullptr, [destroyed](void*) { destroyed->count_down(); });
  auto script = [released = release.get_future().share(), at_end](const EventNotice&, const std::stop_token&) {
    released.wait();
    return ActionOutcome::done();
  };
  at_end.reset();
  {
    const auto courier = start(list_of(scripted("ops", calls_, std::move(script))), milliseconds(0));
    ASSERT_TRUE(calls_->wait_for(1));
    courier->stop();
  }
  EXPECT_EQ(states("ops", 1), (States{DeliveryState::kStarted}));
  release.set_value();
  destroyed->wait();
  EXPECT_EQ(states("ops", 1), (States{DeliveryState::kStarted}));
  EXPECT_TRUE(heard_.records().empty());
}

TEST_F(CourierTest, RedrivesBeforeWhatIsNewer) {
  append("A", 1);
  append("B", 2);
  std::atomic<bool> up = false;
  auto ops = scripted("ops", calls_, [&up](const EventNotice& notice, const std::stop_token&) {
    if (up) return ActionOutcome::done();
    return notice.key == "A-1" ? refused() : busy();
  });
  ops.retry.max_attempts = 100;
  const auto courier = start(list_of(std::move(ops)));
  heard_.wait_for(2);  // the first is dead, the second waits
  ASSERT_TRUE(courier->settle(kLong));
  up = true;
  const std::size_t before = calls_->count();
  ASSERT_EQ(courier->request(request("r-1", Kind::kRedrive)), 1);
  ASSERT_TRUE(courier->settle(kLong));
  finish(*courier);
  const Keys keys = calls_->keys();
  EXPECT_EQ(Keys(keys.begin() + static_cast<std::ptrdiff_t>(before), keys.end()), (Keys{"A-1", "B-2"}));
  EXPECT_EQ(states("ops", 1), (States{DeliveryState::kStarted, DeliveryState::kDead, DeliveryState::kRedriven,
                                      DeliveryState::kStarted, DeliveryState::kDelivered}));
  EXPECT_EQ(courier->request(request("r-2", Kind::kRedrive)), 0);
}

TEST_F(CourierTest, ARedrivenLetterHasItsAttemptsAndAgeAnew) {
  append("A", 1);
  auto ops = scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return busy(); });
  ops.retry.max_attempts = 2;
  ops.retry.max_age = std::chrono::hours(10);
  const auto courier = start(list_of(std::move(ops)));
  finish(*courier);
  ASSERT_EQ(calls_->count(), 2);
  clock_.advance_ns(100LL * 3'600 * kSecondNs);
  courier->request(request("r-1", Kind::kRedrive));
  finish(*courier);
  EXPECT_EQ(calls_->count(), 4);
  EXPECT_EQ(calls_->notices()[3].attempt, 4);
  EXPECT_EQ(courier->backlog().dead, 1);
}

TEST_F(CourierTest, DropsWhatNobodyWants) {
  append("A", 1);
  append("A", 2);
  const auto make = [&] {
    return list_of(scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return refused(); }));
  };
  auto courier = start(make());
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(courier->request(request("r-1", Kind::kDrop, 1, "others")), 0);
  EXPECT_EQ(courier->request(request("r-2", Kind::kDrop, 1, "ops")), 1);
  EXPECT_EQ(courier->backlog().dead, 1);
  courier = nullptr;
  courier = start(make());
  EXPECT_EQ(courier->request(request("r-3", Kind::kRedrive)), 1);  // not the one that was dropped
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-2", "A-2"}));
}

TEST_F(CourierTest, CarriesARequestOutOnce) {
  append("A", 1);
  const auto courier =
      start(list_of(scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return refused(); })));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(courier->request(request("r-1", Kind::kRedrive)), 1);
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(courier->request(request("r-1", Kind::kRedrive)), 0);
  EXPECT_EQ(courier->request(request("r-2", Kind::kRedrive)), 1);
}

TEST_F(CourierTest, CarriesRequestsOutForSubscribersThatAreNotThereNow) {
  append("A", 1);
  append("A", 2);
  const Script refuse = [](const EventNotice&, const std::stop_token&) { return refused(); };
  auto courier = start(list_of(scripted("old", calls_, refuse)));
  ASSERT_TRUE(courier->drain(kLong));
  courier = nullptr;
  const auto others = std::make_shared<Calls>();
  courier = start(list_of(scripted("new", others)));
  EXPECT_EQ(courier->request(request("r-1", Kind::kDrop, 1, "old")), 1);
  EXPECT_EQ(courier->request(request("r-1", Kind::kDrop, 1, "old")), 0);
  EXPECT_EQ(courier->request(request("r-2", Kind::kRedrive)), 1);
  courier = nullptr;
  courier = start(list_of(scripted("old", calls_, refuse)));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1", "A-2", "A-2"}));
  EXPECT_EQ(states("old", 1).back(), DeliveryState::kDropped);
}

TEST_F(CourierTest, GivesEachOfManySubscribersEachEventOnce) {
  std::vector<Subscription> subscriptions;
  std::vector<std::shared_ptr<Calls>> calls;
  for (std::size_t i = 0; i < kMaxSubscriptions; ++i) {
    calls.push_back(std::make_shared<Calls>());
    subscriptions.push_back(scripted(fmt::format("s{}", i), calls.back()));
  }
  const auto courier = start(std::move(subscriptions));
  Keys expected;
  for (int step = 0; step < 20; ++step) {
    append("A", step);
    expected.push_back(fmt::format("A-{}", step));
  }
  ASSERT_TRUE(courier->drain(kLong));
  for (const auto& one : calls) EXPECT_EQ(one->keys(), expected);
}

TEST_F(CourierTest, DrainsAtOnceWithoutSubscribers) {
  append("A", 1);
  const auto courier = start({});
  EXPECT_TRUE(courier->drain(kLong));
  EXPECT_TRUE(courier->settle(milliseconds::max()));
}

TEST_F(CourierTest, DrainEndsWhenItsTimeIsOver) {
  append("A", 1);
  const auto courier =
      start(list_of(scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return busy(); })));
  heard_.wait_for(1);
  EXPECT_FALSE(courier->drain(milliseconds(1)));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(courier->drain(kLong, stop.get_token()));
}

TEST_F(CourierTest, AnEventThatIsDamagedIsADeadLetter) {
  events::Event lost = alert_of("A", 1);
  lost.type = events::kLostType;
  ledger_->append(lost);
  append("A", 2);
  ledger_->record(DeliveryRecord{.subscription = "ops", .seq = 1, .state = DeliveryState::kStarted});
  const auto courier = start(list_of(scripted("ops", calls_)));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-2"}));
  EXPECT_EQ(states("ops", 1), (States{DeliveryState::kStarted, DeliveryState::kDead}));
}

TEST_F(CourierTest, PassesOverRecordsOfEventsThatAreNotThere) {
  append("A", 1);
  ledger_->record(DeliveryRecord{.subscription = "ops", .seq = 9, .state = DeliveryState::kStarted});
  ledger_->record(DeliveryRecord{.subscription = "ops", .seq = 0, .state = DeliveryState::kStarted});
  const auto courier = start(list_of(scripted("ops", calls_)));
  ASSERT_TRUE(courier->drain(kLong));
  EXPECT_EQ(calls_->keys(), (Keys{"A-1"}));
}

}  // namespace
}  // namespace trainwarden::delivery
