// Any text as an event, a delivery or another word of the ledger: it is refused, or it is read, written and read again
// as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/rfc3339.h"
#include "react/events/delivery_record.h"
#include "react/events/event.h"
#include "react/events/ledger_journal.h"
#include "react/events/run_view.h"

namespace {

using namespace trainwarden;
using namespace trainwarden::events;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_event(std::string_view text) {
  const auto event = decode_event(text);
  if (!event.ok()) return;
  const std::string written = encode_event(*event);
  const auto again = decode_event(written);
  check(again.ok() && encode_event(*again) == written);
  (void)encode_as_eventbridge(*event);
  if (event->data.contains("DebugRuleEvaluationStatuses"))
    (void)rule_rows_of(event->data["DebugRuleEvaluationStatuses"]);
  if (event->data.contains("SecondaryStatusTransitions"))
    (void)transitions_of(event->data["SecondaryStatusTransitions"]);
}

template <class Record>
void read_words(const Result<std::optional<Record>>& record, std::string (*encode)(const Record&),
                Result<std::optional<Record>> (*decode)(std::string_view)) {
  if (!record.ok() || !*record) return;
  const std::string written = encode(**record);
  const auto again = decode(written);
  check(again.ok() && again->has_value() && encode(**again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_event(text);
  read_words<DeliveryRecord>(decode_delivery(text), encode_delivery, decode_delivery);
  read_words<SubscribedRecord>(decode_subscribed(text), encode_subscribed, decode_subscribed);
  read_words<Intake>(decode_intake(text), encode_intake, decode_intake);
  if (const auto unix_ns = parse_rfc3339(text)) check(parse_rfc3339(format_rfc3339(*unix_ns)) == unix_ns);
  return 0;
}
