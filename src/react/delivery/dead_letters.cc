#include "react/delivery/dead_letters.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trainwarden::delivery {
namespace {

bool is_meant(const events::DeliveryRecord& record, const LetterChoice& choice) {
  return (choice.subscription.empty() || record.subscription == choice.subscription) &&
         (choice.seq == 0 || record.seq == choice.seq);
}

}  // namespace

std::vector<events::DeliveryRecord> dead_letters(const std::vector<events::DeliveryRecord>& records,
                                                 const LetterChoice& choice) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> newest;
  for (std::size_t i = 0; i < records.size(); ++i) newest[{records[i].subscription, records[i].seq}] = i;
  std::vector<std::size_t> dead;
  for (const auto& [letter, index] : newest) {
    const events::DeliveryRecord& record = records[index];
    if (record.state == events::DeliveryState::kDead && is_meant(record, choice)) dead.push_back(index);
  }
  std::sort(dead.begin(), dead.end());
  std::vector<events::DeliveryRecord> letters;
  for (const std::size_t index : dead) letters.push_back(records[index]);
  return letters;
}

std::size_t decide(events::Ledger& ledger, const std::vector<events::DeliveryRecord>& letters, LetterDecision decision,
                   const Clock& clock) {
  std::size_t decided = 0;
  for (const events::DeliveryRecord& letter : letters) {
    const auto now = dead_letters(ledger.deliveries(letter.subscription), {letter.subscription, letter.seq});
    if (now.empty() || now.front().unix_ns != letter.unix_ns) continue;
    events::DeliveryRecord record = now.front();
    record.state =
        decision == LetterDecision::kRedrive ? events::DeliveryState::kRedriven : events::DeliveryState::kDropped;
    record.unix_ns = clock.unix_ns();
    record.next_unix_ns = 0;
    record.duration_ns = 0;
    record.target_gone = false;
    ledger.record(record);
    ++decided;
  }
  return decided;
}

}  // namespace trainwarden::delivery
