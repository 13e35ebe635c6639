#include "ui/views/event_log.h"

#include <map>
#include <utility>

namespace trainwarden::views {
namespace {

using events::DeliveryState;

}  // namespace

std::vector<DeliveryStanding> standings_of(const std::vector<events::DeliveryRecord>& records) {
  std::vector<DeliveryStanding> standings;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> places;
  for (const events::DeliveryRecord& record : records) {
    const auto [place, is_new] = places.try_emplace({record.subscription, record.seq}, standings.size());
    if (is_new) standings.emplace_back();
    DeliveryStanding& standing = standings[place->second];
    standing.last = record;
    if (record.state == DeliveryState::kStarted) ++standing.attempts;
    const bool is_outcome = record.state == DeliveryState::kDelivered || record.state == DeliveryState::kWaiting ||
                            record.state == DeliveryState::kDead || record.state == DeliveryState::kSuppressed;
    if (!is_outcome) continue;
    standing.answer = record.answer;
    standing.message = record.message;
  }
  return standings;
}

std::string state_text(const DeliveryStanding& standing, bool kept) {
  if (standing.last.state == DeliveryState::kStarted) return kept ? "under way" : "broken off";
  return std::string(name(standing.last.state));
}

bool is_pending(DeliveryState state) {
  return state == DeliveryState::kStarted || state == DeliveryState::kWaiting || state == DeliveryState::kRedriven;
}

EventLog::EventLog(storage::Location location, journal::RunInfo run, std::unique_ptr<journal::JournalReader> journal)
    : location_(std::move(location)), run_(std::move(run)), journal_(std::move(journal)) {}

Result<std::unique_ptr<EventLog>> EventLog::open(const storage::Location& run) {
  const storage::Storage& storage = run.storage();
  auto info = journal::read_run(storage);
  if (!info.ok() && info.status().code() != Code::kNotFound) return info.status();
  std::unique_ptr<journal::JournalReader> journal;
  if (info.ok()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(journal, journal::JournalReader::open(storage, *info, events::kLedgerWriter, {}));
  }
  std::unique_ptr<EventLog> log(new EventLog(run, info.value_or({}), std::move(journal)));
  TRAINWARDEN_RETURN_IF_ERROR(log->refresh().status());
  return log;
}

Result<bool> EventLog::refresh() {
  if (journal_ == nullptr) return false;
  TRAINWARDEN_RETURN_IF_ERROR(journal_->refresh());
  const std::size_t entries = journal_->event_count();
  if (read_ && entries == entries_) return false;
  TRAINWARDEN_ASSIGN_OR_RETURN(contents_, events::read_ledger(location_.storage(), run_));
  entries_ = entries;
  read_ = true;
  return true;
}

bool EventLog::kept() const {
  return journal::has_living_writer(location_.storage(), events::kLedgerWriter);
}

}  // namespace trainwarden::views
