// A courier that is gone at any moment, and the next one.
#include <set>

#include <fmt/format.h>

#include "data/format/request_address.h"
#include "react/delivery/delivery_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::delivery {
namespace {

using actions::ActionOutcome;
using actions::EventNotice;
using events::DeliveryRecord;
using events::DeliveryState;
using std::chrono::milliseconds;

constexpr milliseconds kLongWait = kLongEnough;
constexpr std::int64_t kHourNs = 3'600'000'000'000;

// A history with everything in it: A-1 is delivered, A-2 left out (cool-down), B-3 fails twice, C-4 is a dead letter,
// D-5 and E-6 are delivered.
ActionOutcome script(const EventNotice& notice, const std::stop_token&) {
  if (notice.key == "B-3" && notice.attempt < 3) return busy();
  return notice.key == "C-4" ? refused() : ActionOutcome::done();
}

class Scene {
 public:
  Scene() {
    for (const auto& [rule, step] : {std::pair{"A", 1}, {"A", 2}, {"B", 3}, {"C", 4}, {"D", 5}, {"E", 6}}) {
      ledger->append(alert_of(rule, step, clock.unix_ns()));
    }
  }

  void deliver() {
    auto ops = scripted("ops", calls, script);
    ops.cool_down = std::chrono::hours(24);
    Courier courier(*ledger, list_of(std::move(ops)), {.run_name = "first", .clock = &clock, .jitter_seed = 7});
    while (courier.settle(kLongWait) && courier.backlog().pending > 0) {
      clock.advance_ns(kHourNs);
      courier.wake();
    }
    EXPECT_TRUE(courier.drain(kLongWait));
    EXPECT_EQ(courier.backlog().dead, 1);
  }

  FakeClock clock;
  std::unique_ptr<events::Ledger> ledger = events::Ledger::in_memory(clock, sample_run());
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();
};

std::set<std::string> keys_in(const std::vector<DeliveryRecord>& records, DeliveryState state) {
  std::set<std::string> keys;
  for (const DeliveryRecord& record : records) {
    if (record.state == state) keys.insert(record.key);
  }
  return keys;
}

TEST(Restart, AfterEachRecordLosesNothingAndRepeatsNothingThatWasDelivered) {
  Scene whole;
  whole.deliver();
  const auto records = whole.ledger->deliveries("ops");
  ASSERT_EQ(records.size(), 15);
  for (std::size_t kept = 0; kept <= records.size(); ++kept) {
    SCOPED_TRACE(fmt::format("after {} records", kept));
    Scene again;
    for (std::size_t i = 0; i < kept; ++i) again.ledger->record(records[i]);
    again.deliver();
    const std::vector<DeliveryRecord> before(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(kept));
    const auto delivered_before = keys_in(before, DeliveryState::kDelivered);
    for (const std::string& key : again.calls->keys()) EXPECT_FALSE(delivered_before.contains(key)) << key;
    const auto all = again.ledger->deliveries("ops");
    EXPECT_EQ(keys_in(all, DeliveryState::kDelivered), (std::set<std::string>{"A-1", "B-3", "D-5", "E-6"}));
    EXPECT_EQ(keys_in(all, DeliveryState::kDead), (std::set<std::string>{"C-4"}));
    EXPECT_EQ(keys_in(all, DeliveryState::kSuppressed), (std::set<std::string>{"A-2"}));
    std::uint64_t last = 0;
    for (const DeliveryRecord& record : all) {
      EXPECT_GE(record.seq, last);
      last = record.seq;
    }
  }
}

TEST(Restart, AnAttemptWithoutAnOutcomeIsMadeAgain) {
  Scene scene;
  scene.ledger->record(
      DeliveryRecord{.subscription = "ops", .seq = 1, .key = "A-1", .state = DeliveryState::kStarted, .attempt = 4});
  scene.deliver();
  EXPECT_EQ(scene.calls->notices().at(0).key, "A-1");
  EXPECT_EQ(scene.calls->notices().at(0).attempt, 5);
}

TEST(Restart, ANewPatternDoesNotFetchOldEvents) {
  Scene scene;
  const auto deliver = [&](const char* rules) {
    auto ops = scripted("ops", scene.calls, {}, fmt::format(R"({{"data": {{"change": {{"rule": {}}}}}}})", rules));
    Courier courier(*scene.ledger, list_of(std::move(ops)), {.clock = &scene.clock});
    EXPECT_TRUE(courier.drain(kLongWait));
  };
  deliver(R"(["D"])");
  deliver(R"(["A", "D", "E"])");
  EXPECT_EQ(scene.calls->keys(), (std::vector<std::string>{"D-5", "E-6"}));
}

// The control folder of a run in memory.
class RequestFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(storage_->create_folder("control").ok());
    open();
    ledger_->append(alert_of("A", 1, clock_.unix_ns()));
  }
  void open() {
    ledger_ = nullptr;
    auto ledger = events::Ledger::open(*storage_, clock_, sample_run());
    ASSERT_TRUE(ledger.ok()) << ledger.status().to_string();
    ledger_ = *std::move(ledger);
  }
  std::unique_ptr<Courier> start(const std::string& run_id = "") {
    CourierOptions options{.run_name = "first", .run_id = run_id, .clock = &clock_};
    options.on_delivery = [this](const DeliveryRecord& record, const events::Event&) { heard_.add(record); };
    return std::make_unique<Courier>(
        *ledger_,
        list_of(scripted("ops", calls_, [](const EventNotice&, const std::stop_token&) { return refused(); })),
        std::move(options));
  }
  void put(const std::string& key, format::DeliveryRequest::Kind kind) {
    const format::DeliveryRequest request{key, kind, "ops", 0, "user", clock_.unix_ns()};
    const std::string text = format::encode_delivery_request(request);
    ASSERT_TRUE(storage_->put_if_absent(format::delivery_request_path(key), as_bytes(text)).ok());
  }

  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  FakeClock clock_;
  std::unique_ptr<events::Ledger> ledger_;
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  Heard heard_;
};

using Kind = format::DeliveryRequest::Kind;

TEST_F(RequestFiles, AreCarriedOutOnceAlsoByTheNextCourier) {
  auto courier = start();
  ASSERT_TRUE(courier->drain(kLongWait));
  ASSERT_EQ(calls_->count(), 1);
  clock_.advance_ns(kHourNs);
  put("r-1", Kind::kRedrive);
  courier->wake();
  ASSERT_TRUE(courier->drain(kLongWait));
  EXPECT_EQ(calls_->count(), 2);
  clock_.advance_ns(kHourNs);
  courier = nullptr;
  open();
  courier = start();
  ASSERT_TRUE(courier->drain(kLongWait));
  EXPECT_EQ(calls_->count(), 2);
  EXPECT_EQ(courier->backlog().dead, 1);
}

TEST_F(RequestFiles, AreSeenWithoutBeingAsked) {
  const auto courier = start();
  heard_.wait_for(1);
  put("r-1", Kind::kDrop);
  const DeliveryRecord dropped = heard_.wait_for(2);
  EXPECT_EQ(dropped.state, DeliveryState::kDropped);
  EXPECT_EQ(dropped.request, "r-1");
  EXPECT_EQ(courier->backlog().dead, 0);
}

TEST_F(RequestFiles, FromBeforeTheCourierMeanWhatWasDeadThen) {
  auto courier = start();
  ASSERT_TRUE(courier->drain(kLongWait));
  courier = nullptr;
  clock_.advance_ns(kHourNs);
  put("r-1", Kind::kRedrive);
  clock_.advance_ns(kHourNs);
  courier = start();  // nobody was there when it was put
  ASSERT_TRUE(courier->drain(kLongWait));
  EXPECT_EQ(calls_->count(), 2);
  clock_.advance_ns(kHourNs);
  ledger_->append(alert_of("A", 2, clock_.unix_ns()));
  ASSERT_TRUE(courier->drain(kLongWait));
  courier = nullptr;
  courier = start();  // the second died after the request
  ASSERT_TRUE(courier->drain(kLongWait));
  EXPECT_EQ(calls_->count(), 3);
}

TEST_F(RequestFiles, ForAnotherRunAreNotCarriedOut) {
  const format::DeliveryRequest request{"r-1", Kind::kRedrive, "ops", 0, "user", clock_.unix_ns()};
  const std::string text = format::address_request(format::encode_delivery_request(request), "other");
  const auto courier = start("one");
  ASSERT_TRUE(courier->drain(kLongEnough));
  ASSERT_TRUE(storage_->put_if_absent(format::delivery_request_path("r-1"), as_bytes(text)).ok());
  put("r-2", Kind::kDrop);
  courier->wake();
  ASSERT_TRUE(courier->drain(kLongEnough));
  EXPECT_EQ(calls_->count(), 1);
  EXPECT_EQ(courier->backlog().dead, 0) << "the one that names no run was carried out";
}

TEST_F(RequestFiles, ThatCannotBeUnderstoodHurtNobody) {
  ASSERT_TRUE(storage_->put_if_absent("control/delivery-bad.json", as_bytes("{")).ok());
  const auto courier = start();
  ASSERT_TRUE(courier->drain(kLongWait));
  EXPECT_EQ(calls_->count(), 1);
}

}  // namespace
}  // namespace trainwarden::delivery
