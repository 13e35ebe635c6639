#include "react/delivery/absent_subscription.h"

#include <algorithm>
#include <utility>

#include "react/delivery/dead_letters.h"
#include "react/delivery/lane.h"

namespace trainwarden::delivery {

AbsentSubscription::AbsentSubscription(events::Ledger& ledger, std::string name)
    : ledger_(ledger),
      name_(std::move(name)),
      records_(ledger.deliveries(name_)),
      history_(fold_history(records_, ledger.last_seq(), [](std::uint64_t) { return std::string(); })) {}

std::int64_t AbsentSubscription::heard_unix_ns(const std::string& request_key) const {
  const auto found = history_.request_unix_ns.find(request_key);
  return found == history_.request_unix_ns.end() ? 0 : found->second;
}

std::size_t AbsentSubscription::take(const format::DeliveryRequest& request, std::int64_t cutoff_unix_ns,
                                     std::int64_t now_unix_ns) {
  if (!request.subscription.empty() && request.subscription != name_) return 0;
  const auto meant = letters_meant(history_, request, cutoff_unix_ns);
  for (events::DeliveryRecord record : dead_letters(records_)) {
    if (std::find(meant.begin(), meant.end(), record.seq) == meant.end()) continue;
    const bool redrive = request.kind == format::DeliveryRequest::Kind::kRedrive;
    record.state = redrive ? events::DeliveryState::kRedriven : events::DeliveryState::kDropped;
    record.answer.clear();
    record.message = asked_for_by(request);
    record.unix_ns = now_unix_ns;
    record.duration_ns = 0;
    record.target_gone = false;
    record.request = request.key;
    ledger_.record(record);
  }
  return meant.size();
}

}  // namespace trainwarden::delivery
