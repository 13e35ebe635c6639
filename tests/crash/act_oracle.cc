#include "act_oracle.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "data/format/control_record.h"
#include "judge/rules/verdict_record.h"
#include "react/events/event.h"
#include "react/match/matcher.h"
#include "store/journal/all_events.h"
#include "store/journal/journal_reader.h"
#include "store/storage/local_storage.h"

namespace trainwarden::act {
namespace {

using events::ChangeKind;
using events::DeliveryState;
using events::Event;
using events::LedgerContents;
using Alarm = std::pair<std::string, std::int64_t>;  // rule, global step
using Statuses = std::map<std::string, std::vector<std::string>>;

// What the engines wrote, in the order of writing.
struct Journals {
  std::vector<Alarm> alarms;  // each once
  Statuses statuses;          // of each rule
};

// May a rule's status be followed by this one, over several engines?
bool is_change(const std::vector<std::string>& before, const std::string& next) {
  if (before.empty()) return true;
  const std::string& last = before.back();
  if (last == next) return false;
  return last != "IssuesFound" || next == "Error";
}

// Who is left in the middle of judging may be said to be stopped, or not: what counts is what it found.
std::vector<std::string> without_stops(const std::vector<std::string>& statuses) {
  std::vector<std::string> kept;
  for (const std::string& status : statuses) {
    if (status == "Stopping" || status == "Stopped") continue;
    if (kept.empty() || kept.back() != status) kept.push_back(status);
  }
  return kept;
}

void take(Journals& journals, const std::string& json) {
  const auto verdict = rules::decode_verdict(json);
  ASSERT_TRUE(verdict.ok()) << verdict.status().to_string();
  if (*verdict && (*verdict)->alarms()) {
    const Alarm alarm{(*verdict)->rule_id, (*verdict)->place.global_step};
    if (std::find(journals.alarms.begin(), journals.alarms.end(), alarm) == journals.alarms.end()) {
      journals.alarms.push_back(alarm);
    }
  }
  const auto status = rules::decode_rule_status(json);
  ASSERT_TRUE(status.ok()) << status.status().to_string();
  if (!*status) return;
  auto& statuses = journals.statuses[(*status)->rule_id];
  const std::string next(name((*status)->status));
  if (is_change(statuses, next)) statuses.push_back(next);
}

Journals read_journals(const ActScene& scene) {
  Journals journals;
  const auto storage = storage::open_local_storage(scene.run());
  const journal::RunInfo run = journal::read_run(*storage).value();
  const auto names = journal::list_journals(*storage).value();
  for (const std::string& name : names) {
    if (!name.starts_with("watch-")) continue;
    const auto reader = journal::JournalReader::open(*storage, run, name, {}).value();
    EXPECT_TRUE(reader->refresh().ok());
    for (const journal::EventEntry& entry : journal::all_events(*reader)) {
      if (entry.kind == format::FrameKind::kVerdict) take(journals, entry.json);
    }
  }
  return journals;
}

void check_numbers(const LedgerContents& ledger) {
  EXPECT_EQ(ledger.lost_events, 0u);
  std::set<std::string> ids;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < ledger.events.size(); ++i) {
    const Event& event = ledger.events[i];
    EXPECT_EQ(event.seq, i + 1);
    EXPECT_TRUE(ids.insert(event.id).second) << event.id << " is there twice";
    EXPECT_TRUE(keys.insert(event.key).second) << event.key << " is there twice";
  }
}

void check_alarms(const Journals& journals, const LedgerContents& ledger) {
  std::vector<Alarm> recorded;
  for (const Event& event : ledger.events) {
    if (event.change.kind == ChangeKind::kAlert) recorded.emplace_back(event.change.rule, event.global_step);
  }
  EXPECT_EQ(recorded, journals.alarms);
}

// `from` of each change is `to` of the one before.
void check_chain(const std::vector<const Event*>& changes) {
  std::string last;
  for (const Event* event : changes) {
    EXPECT_EQ(event->change.from, last) << event->key;
    EXPECT_NE(event->change.to, last) << event->key;
    last = event->change.to;
  }
}

void check_statuses(const Journals& journals, const LedgerContents& ledger) {
  std::map<std::string, std::vector<const Event*>> changes;
  for (const Event& event : ledger.events) {
    if (event.change.kind == ChangeKind::kRule) changes[event.change.rule].push_back(&event);
  }
  EXPECT_EQ(changes.size(), journals.statuses.size());
  for (const auto& [rule, statuses] : journals.statuses) {
    SCOPED_TRACE(rule);
    check_chain(changes[rule]);
    std::vector<std::string> recorded;
    for (const Event* event : changes[rule]) recorded.push_back(event->change.to);
    EXPECT_EQ(without_stops(recorded), without_stops(statuses));
  }
}

void check_run_states(const LedgerContents& ledger) {
  std::vector<const Event*> changes;
  for (const Event& event : ledger.events) {
    if (event.change.kind == ChangeKind::kRun) changes.push_back(&event);
  }
  ASSERT_FALSE(changes.empty());
  check_chain(changes);
}

std::vector<const Event*> matching(const LedgerContents& ledger, std::string_view subscription) {
  const auto pattern = match::Pattern::parse(pattern_of(subscription)).value();
  std::vector<const Event*> found;
  for (const Event& event : ledger.events) {
    if (match::matches(pattern, events::encode_event(event)).value()) found.push_back(&event);
  }
  return found;
}

}  // namespace

LedgerContents read_ledger_of(const ActScene& scene) {
  const auto storage = storage::open_local_storage(scene.run());
  return events::read_ledger(*storage, journal::read_run(*storage).value()).value();
}

void check_changes(const ActScene& scene, const LedgerContents& ledger) {
  const Journals journals = read_journals(scene);
  check_numbers(ledger);
  check_alarms(journals, ledger);
  check_statuses(journals, ledger);
  check_run_states(ledger);
}

void check_deliveries(const LedgerContents& ledger, std::string_view subscription) {
  SCOPED_TRACE(subscription);
  const auto wanted = matching(ledger, subscription);
  std::size_t delivered = 0;  // of `wanted`
  for (const events::DeliveryRecord& record : ledger.deliveries) {
    if (record.subscription != subscription) continue;
    ASSERT_LT(delivered, wanted.size()) << "after everything was delivered: " << record.seq;
    ASSERT_EQ(record.seq, wanted[delivered]->seq) << name(record.state) << " out of order, or after it was delivered";
    EXPECT_EQ(record.key, wanted[delivered]->key);
    EXPECT_EQ(record.event_id, wanted[delivered]->id);
    EXPECT_NE(record.state, DeliveryState::kDead);
    if (record.state == DeliveryState::kDelivered) ++delivered;
  }
  EXPECT_EQ(delivered, wanted.size()) << "events were lost";
}

std::vector<LogLine> read_log(const ActScene& scene, std::string_view subscription) {
  std::vector<LogLine> lines;
  std::ifstream file(scene.log(subscription));
  for (LogLine line; file >> line.key >> line.event_id >> line.attempt >> line.outcome;) lines.push_back(line);
  return lines;
}

void check_log(const std::vector<LogLine>& log, const LedgerContents& ledger, std::string_view subscription) {
  SCOPED_TRACE(subscription);
  std::map<std::string, int> started;  // by key: attempts in the ledger
  for (const events::DeliveryRecord& record : ledger.deliveries) {
    if (record.subscription == subscription && record.state == DeliveryState::kStarted) ++started[record.key];
  }
  std::vector<std::pair<std::string, std::string>> first_calls;  // key and event
  std::map<std::string, int> calls;
  std::set<std::string> done;
  for (const LogLine& line : log) {
    if (line.outcome == "done") {
      done.insert(line.key);
    } else if (++calls[line.key] == 1) {
      first_calls.emplace_back(line.key, line.event_id);
    }
  }
  std::vector<std::pair<std::string, std::string>> expected;
  for (const Event* event : matching(ledger, subscription)) expected.emplace_back(event->key, event->id);
  EXPECT_EQ(first_calls, expected);
  for (const auto& [key, count] : calls) {
    EXPECT_LE(count, started[key]) << key << " ran without a record";
    EXPECT_TRUE(done.contains(key)) << key << " was never done";
  }
}

int check_stop_requests(const ActScene& scene, const LedgerContents& ledger) {
  std::set<std::string> asked;
  for (const Event* event : matching(ledger, kStopper)) asked.insert(event->key);
  const auto storage = storage::open_local_storage(scene.run());
  const auto files = storage->list(format::kControlFolder);
  if (!files.ok()) return 0;  // nobody was there to ask
  std::set<std::string> keys;
  for (const std::string& file : *files) {
    if (!format::is_stop_request_file(file)) continue;
    const auto request =
        format::decode_stop_request(storage->read(std::string(format::kControlFolder) + "/" + file).value());
    EXPECT_TRUE(request.ok()) << file;
    if (!request.ok()) continue;
    EXPECT_TRUE(keys.insert(request->key).second) << file;
    EXPECT_TRUE(asked.contains(request->key)) << file << " was asked for by no alert";
    EXPECT_EQ(format::stop_request_path(request->key), std::string(format::kControlFolder) + "/" + file);
  }
  return static_cast<int>(keys.size());
}

}  // namespace trainwarden::act
