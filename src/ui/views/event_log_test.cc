#include "ui/views/event_log.h"

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

using events::DeliveryRecord;
using events::DeliveryState;

constexpr std::int64_t kSecond = 1'000'000'000;

DeliveryRecord record_of(const std::string& subscription, std::uint64_t seq, DeliveryState state, int attempt = 1) {
  DeliveryRecord record;
  record.subscription = subscription;
  record.action = "webhook";
  record.place = "https://hooks.example.com";
  record.seq = seq;
  record.state = state;
  record.attempt = attempt;
  record.unix_ns = 1'700'000'000 * kSecond + static_cast<std::int64_t>(seq);
  return record;
}

DeliveryRecord failed(DeliveryRecord record, const std::string& answer, const std::string& message) {
  record.answer = answer;
  record.message = message;
  return record;
}

TEST(DeliveryStandings, AreTheNewestRecordOfEachSubscriptionAndEvent) {
  const auto standings =
      standings_of({record_of("ops", 1, DeliveryState::kStarted),
                    failed(record_of("ops", 1, DeliveryState::kWaiting), "503", "come back"),
                    record_of("mail", 1, DeliveryState::kStarted), record_of("ops", 1, DeliveryState::kStarted, 2),
                    failed(record_of("ops", 1, DeliveryState::kDead, 2), "400", "no such channel"),
                    record_of("ops", 2, DeliveryState::kSuppressed)});
  ASSERT_EQ(standings.size(), 3u);
  EXPECT_EQ(standings[0].last.state, DeliveryState::kDead);
  EXPECT_EQ(standings[0].attempts, 2);
  EXPECT_EQ(standings[0].answer, "400");
  EXPECT_EQ(standings[0].message, "no such channel");
  EXPECT_EQ(standings[1].last.subscription, "mail");
  EXPECT_EQ(standings[1].attempts, 1);
  EXPECT_EQ(standings[2].last.seq, 2u);
  EXPECT_EQ(standings[2].attempts, 0);
}

TEST(DeliveryStandings, KeepTheAnswerOfALetterThatIsRedriven) {
  const auto standings = standings_of({record_of("ops", 1, DeliveryState::kStarted),
                                       failed(record_of("ops", 1, DeliveryState::kDead), "400", "no such channel"),
                                       record_of("ops", 1, DeliveryState::kRedriven)});
  ASSERT_EQ(standings.size(), 1u);
  EXPECT_EQ(standings[0].last.state, DeliveryState::kRedriven);
  EXPECT_EQ(standings[0].answer, "400");
  EXPECT_TRUE(is_pending(standings[0].last.state));
}

TEST(DeliveryStandings, OfWhatHasBegunDependOnWhetherSomebodyKeepsTheLedger) {
  const auto standings = standings_of({record_of("ops", 1, DeliveryState::kStarted)});
  EXPECT_EQ(state_text(standings[0], true), "under way");
  EXPECT_EQ(state_text(standings[0], false), "broken off");
}

}  // namespace
}  // namespace trainwarden::views
