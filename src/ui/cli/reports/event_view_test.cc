#include "ui/cli/reports/event_view.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

using events::ChangeKind;
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

events::Event event_of(std::uint64_t seq, ChangeKind kind) {
  events::Event event;
  event.seq = seq;
  event.id = "run-" + std::to_string(seq);
  event.subject = "VanishingGradient";
  event.unix_ns = 1'700'000'000 * kSecond;
  event.change = {kind, "VanishingGradient", "InProgress", "IssuesFound"};
  event.global_step = 120;
  event.headline = "VanishingGradient fired at step 120";
  return event;
}

TEST(EventView, SaysWhatChanged) {
  EXPECT_EQ(change_text({ChangeKind::kRule, "A", "InProgress", "IssuesFound"}), "InProgress -> IssuesFound");
  EXPECT_EQ(change_text({ChangeKind::kRun, "", "", "InProgress/Starting"}), "-> InProgress/Starting");
  EXPECT_EQ(change_text({ChangeKind::kAlert, "A", "", ""}), "alert");
}

TEST(EventView, WhatCannotBeReadAnyMoreSaysSo) {
  events::Event lost;
  lost.seq = 4;
  lost.type = events::kLostType;
  EXPECT_NE(event_line(lost).find("  lost: "), std::string::npos) << event_line(lost);
}

TEST(EventView, ATableHasALineForEachEventWithItsDeliveries) {
  const auto standings = views::standings_of(
      {record_of("ops", 2, DeliveryState::kWaiting), record_of("stop", 2, DeliveryState::kDelivered)});
  const std::string table =
      event_table({event_of(1, ChangeKind::kRule), event_of(2, ChangeKind::kAlert)}, by_event(standings), true);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  const std::string second = table.substr(table.rfind('\n', table.size() - 2) + 1);
  EXPECT_NE(second.find("ops waiting, stop delivered"), std::string::npos) << table;
  EXPECT_NE(second.find("  alert  "), std::string::npos) << table;
  EXPECT_NE(table.find("InProgress -> IssuesFound  -  "), std::string::npos) << table;
}

TEST(EventView, NothingThatARunSaysDrivesTheTerminal) {
  events::Event event = event_of(1, ChangeKind::kAlert);
  event.subject = "evil\x1b[2J";
  event.headline = "\x1b]0;owned\x07 and\nmore";
  const auto standings =
      views::standings_of({failed(record_of("o\x1bps", 1, DeliveryState::kWaiting), "\x1b[1m", "line\nline")});
  const std::string text = event_table({event}, by_event(standings), true) + event_line(event);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(EventView, JsonHasTheEventAndWhatBecameOfIt) {
  const auto standings =
      views::standings_of({record_of("ops", 7, DeliveryState::kStarted),
                           failed(record_of("ops", 7, DeliveryState::kWaiting), "503", "come back")});
  const OrderedJson json = json_of(event_of(7, ChangeKind::kAlert), standings);
  EXPECT_EQ(json["seq"], 7);
  EXPECT_EQ(json["id"], "run-7");
  EXPECT_EQ(json["change"]["kind"], "alert");
  EXPECT_EQ(json["step"], 120);
  ASSERT_EQ(json["deliveries"].size(), 1u);
  EXPECT_EQ(json["deliveries"][0]["state"], "waiting");
  EXPECT_EQ(json["deliveries"][0]["attempts"], 1);
  EXPECT_EQ(json["deliveries"][0]["answer"], "503");
}

}  // namespace
}  // namespace trainwarden::cli
