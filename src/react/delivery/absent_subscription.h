// AbsentSubscription: the dead letters of a subscription that was there once and is not now, so that somebody can drop
// them, or have them tried when it is there again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/format/delivery_request.h"
#include "react/delivery/lane_history.h"
#include "react/events/ledger.h"

namespace trainwarden::delivery {

// One thread at a time.
class AbsentSubscription {
 public:
  // As the ledger has it now; `ledger` must outlive it.
  AbsentSubscription(events::Ledger& ledger, std::string name);

  // As Lane's.
  std::int64_t heard_unix_ns(const std::string& request_key) const;
  std::size_t take(const format::DeliveryRequest& request, std::int64_t cutoff_unix_ns, std::int64_t now_unix_ns);

 private:
  events::Ledger& ledger_;
  std::string name_;
  std::vector<events::DeliveryRecord> records_;
  LaneHistory history_;
};

}  // namespace trainwarden::delivery
