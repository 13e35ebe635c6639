#include "react/delivery/dead_letters.h"

#include <gtest/gtest.h>

namespace trainwarden::delivery {
namespace {

using events::DeliveryRecord;
using events::DeliveryState;

DeliveryRecord record_of(const std::string& subscription, std::uint64_t seq, DeliveryState state,
                         std::int64_t unix_ns) {
  DeliveryRecord record;
  record.subscription = subscription;
  record.action = "webhook";
  record.place = "https://hooks.example.com";
  record.seq = seq;
  record.key = "vanishinggradient-" + std::to_string(seq);
  record.state = state;
  record.unix_ns = unix_ns;
  return record;
}

class DeadLettersTest : public ::testing::Test {
 protected:
  DeadLettersTest() {
    run_.id = "0123456789abcdef0123456789abcdef";
    ledger_ = events::Ledger::in_memory(clock_, run_);
    for (int i = 0; i < 3; ++i) ledger_->append(events::Event{});
    ledger_->record(record_of("ops", 1, DeliveryState::kDead, 10));
    ledger_->record(record_of("ops", 2, DeliveryState::kDelivered, 20));
    ledger_->record(record_of("mail", 1, DeliveryState::kDead, 30));
  }

  DeliveryState state_of(const std::string& subscription, std::uint64_t seq) const {
    DeliveryState state = DeliveryState::kStarted;
    for (const DeliveryRecord& record : ledger_->deliveries(subscription)) {
      if (record.seq == seq) state = record.state;
    }
    return state;
  }
  std::size_t records() const { return ledger_->deliveries("ops").size(); }

  FakeClock clock_;
  journal::RunInfo run_;
  std::unique_ptr<events::Ledger> ledger_;
};

TEST_F(DeadLettersTest, AreThoseWhoseNewestRecordSaysSo) {
  std::vector<DeliveryRecord> records = ledger_->deliveries("ops");
  EXPECT_EQ(dead_letters(records).size(), 1u);
  records.push_back(record_of("ops", 1, DeliveryState::kRedriven, 40));
  EXPECT_TRUE(dead_letters(records).empty());
  records.push_back(record_of("ops", 1, DeliveryState::kDead, 50));
  ASSERT_EQ(dead_letters(records).size(), 1u);
  EXPECT_EQ(dead_letters(records).front().unix_ns, 50);
}

TEST_F(DeadLettersTest, AreChosenBySubscriptionAndEvent) {
  std::vector<DeliveryRecord> records;
  for (const std::uint64_t seq : {1, 2}) {
    records.push_back(record_of("ops", seq, DeliveryState::kDead, 1));
    records.push_back(record_of("mail", seq, DeliveryState::kDead, 1));
  }
  EXPECT_EQ(dead_letters(records, {"ops", 0}).size(), 2u);
  EXPECT_EQ(dead_letters(records, {"", 2}).size(), 2u);
  ASSERT_EQ(dead_letters(records, {"mail", 2}).size(), 1u);
  EXPECT_EQ(dead_letters(records, {"mail", 2}).front().subscription, "mail");
  EXPECT_TRUE(dead_letters(records, {"nobody", 0}).empty());
}

TEST_F(DeadLettersTest, ADecisionIsWrittenDownOnce) {
  const auto letters = dead_letters(ledger_->deliveries("ops"));
  EXPECT_EQ(decide(*ledger_, letters, LetterDecision::kRedrive, clock_), 1u);
  EXPECT_EQ(state_of("ops", 1), DeliveryState::kRedriven);
  EXPECT_EQ(state_of("mail", 1), DeliveryState::kDead);
  const std::size_t before = records();
  EXPECT_EQ(decide(*ledger_, letters, LetterDecision::kRedrive, clock_), 0u);
  EXPECT_EQ(records(), before);
}

TEST_F(DeadLettersTest, ALetterThatDiedAgainSinceIsAnotherOne) {
  const auto letters = dead_letters(ledger_->deliveries("ops"));
  decide(*ledger_, letters, LetterDecision::kRedrive, clock_);
  ledger_->record(record_of("ops", 1, DeliveryState::kDead, 60));
  EXPECT_EQ(decide(*ledger_, letters, LetterDecision::kDrop, clock_), 0u);
  EXPECT_EQ(state_of("ops", 1), DeliveryState::kDead);
}

}  // namespace
}  // namespace trainwarden::delivery
