// Dead letters: deliveries that were given up, and what people decide about them. Whoever keeps the ledger writes the
// decision down; another process asks for it with a file in the run's control folder.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "events/ledger.h"
#include "storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::delivery {

enum class LetterDecision : std::uint8_t {
  kRedrive,  // deliver it anew
  kDrop,     // nobody wants it any more
};
std::string_view name(LetterDecision decision);  // "redrive", "drop"

// Which dead letters are meant.
struct LetterChoice {
  std::string subscription;  // empty: of any
  std::uint64_t seq = 0;     // of the event; 0: of any
};

// The newest record of each chosen dead letter, in the order of writing. `records`: all of the ledger, or of one
// subscription.
std::vector<events::DeliveryRecord> dead_letters(const std::vector<events::DeliveryRecord>& records,
                                                 const LetterChoice& choice = {});

// Writes the decision about these dead letters down. Those that are none any more, or have died again since, are left
// alone, so a decision that is carried out twice does nothing the second time. Returns how many were decided.
std::size_t decide(events::Ledger& ledger, const std::vector<events::DeliveryRecord>& letters, LetterDecision decision,
                   const Clock& clock = system_clock());

// The file control/letters-<key>.json: the dead letters that it is about are named one by one.
struct LetterRequest {
  std::string key;  // [A-Za-z0-9-]
  LetterDecision decision = LetterDecision::kRedrive;
  std::vector<events::DeliveryRecord> letters;  // subscription, seq and unix_ns of each
  std::string requested_by;
  std::int64_t unix_ns = 0;
};
std::string encode_letter_request(const LetterRequest& request);
Result<LetterRequest> decode_letter_request(std::string_view json);
Status put_letter_request(storage::Storage& run_storage, const LetterRequest& request);

// The requests of a run, for who keeps its ledger. One thread at a time.
class LetterRequests {
 public:
  // Both must outlive it.
  LetterRequests(const storage::Storage& run_storage, events::Ledger& ledger, const Clock& clock = system_clock())
      : storage_(run_storage), ledger_(ledger), clock_(clock) {}

  // Carries out those that are new since the last call; those that an earlier process has carried out change nothing.
  // Cheap when there are none. The status is the first request's that cannot be read; it is passed over from then on,
  // unless the fault is a passing one (kUnavailable).
  Status poll();

 private:
  const storage::Storage& storage_;
  events::Ledger& ledger_;
  const Clock& clock_;
  std::set<std::string> seen_;
};

}  // namespace trainwarden::delivery
