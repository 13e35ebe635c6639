// Dead letters: deliveries that were given up, and what people decide about them, written down by who keeps the ledger.
// Another process asks for it with a file in the run's control folder (data/format/delivery_request.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "react/events/ledger.h"

namespace trainwarden::delivery {

enum class LetterDecision : std::uint8_t {
  kRedrive,  // deliver it again
  kDrop,     // nobody wants it any more
};

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

}  // namespace trainwarden::delivery
