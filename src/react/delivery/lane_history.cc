#include "react/delivery/lane_history.h"

#include <algorithm>

namespace trainwarden::delivery {
namespace {

using events::DeliveryRecord;
using events::DeliveryState;

void take_request(LaneHistory& history, const DeliveryRecord& record) {
  if (record.request.empty()) return;
  history.request_unix_ns.try_emplace(record.request, record.unix_ns);
  history.requests[record.seq].insert(record.request);
}

void take_redriven(LaneHistory& history, const DeliveryRecord& record) {
  history.target_gone = false;
  const auto letter = history.dead.find(record.seq);
  if (letter == history.dead.end()) return;
  history.open[record.seq] = {.attempts = letter->second.attempts,
                              .attempts_before = letter->second.attempts,
                              .redriven = true,
                              .since_unix_ns = record.unix_ns};
  history.dead.erase(letter);
}

}  // namespace

void take_record(LaneHistory& history, const DeliveryRecord& record, const std::string& subject) {
  history.highest_seq = std::max(history.highest_seq, record.seq);
  switch (record.state) {
    case DeliveryState::kStarted: {
      OpenDelivery& open = history.open[record.seq];
      open.attempts = record.attempt;
      open.next_unix_ns = 0;
      if (open.since_unix_ns == 0) open.since_unix_ns = record.unix_ns;
      break;
    }
    case DeliveryState::kWaiting:
      history.open[record.seq].attempts = record.attempt;
      history.open[record.seq].next_unix_ns = record.next_unix_ns;
      history.open[record.seq].decided_unix_ns = record.unix_ns;
      break;
    case DeliveryState::kDelivered: history.delivered_unix_ns[subject] = record.unix_ns; [[fallthrough]];
    case DeliveryState::kSuppressed: history.open.erase(record.seq); break;
    case DeliveryState::kDead:
      history.open.erase(record.seq);
      history.dead[record.seq] = {record.attempt, record.unix_ns};
      if (record.target_gone) history.target_gone = true;
      break;
    case DeliveryState::kRedriven:
      take_redriven(history, record);
      take_request(history, record);
      break;
    case DeliveryState::kDropped:
      history.dead.erase(record.seq);
      take_request(history, record);
      break;
  }
}

std::vector<std::uint64_t> letters_meant(const LaneHistory& history, const format::DeliveryRequest& request,
                                         std::int64_t cutoff_unix_ns) {
  std::vector<std::uint64_t> meant;
  for (const auto& [seq, letter] : history.dead) {
    const auto requests = history.requests.find(seq);
    const bool before = requests != history.requests.end() && requests->second.contains(request.key);
    const bool named = request.seq == 0 || request.seq == seq;
    if (named && !before && letter.dead_unix_ns <= cutoff_unix_ns) meant.push_back(seq);
  }
  return meant;
}

LaneHistory fold_history(std::span<const DeliveryRecord> records, std::uint64_t last_seq,
                         const std::function<std::string(std::uint64_t)>& subject) {
  LaneHistory history;
  for (const DeliveryRecord& record : records) {
    if (record.seq < 1 || record.seq > last_seq) continue;
    take_record(history, record, record.state == DeliveryState::kDelivered ? subject(record.seq) : std::string());
  }
  return history;
}

}  // namespace trainwarden::delivery
