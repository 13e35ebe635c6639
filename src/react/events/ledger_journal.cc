#include "react/events/ledger_journal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "data/format/json.h"

namespace trainwarden::events {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kIntakeType = "intake";

// What stands in the place of an event that cannot be read any more.
Event stand_in(std::uint64_t seq, const journal::RunInfo& run, const Event& next) {
  Event event;
  event.seq = seq;
  event.id = fmt::format("{}-{}", run.id, seq);
  event.key = fmt::format("lost-event-{}", seq);
  event.type = kLostType;
  event.subject = "run";
  event.source = next.source;
  event.unix_ns = next.unix_ns;
  event.headline = fmt::format("event {} of the run is lost: the ledger is damaged there", seq);
  event.data = next.data;
  event.data.erase("alert");
  complete_data(event);
  return event;
}

class Contents {
 public:
  explicit Contents(const journal::RunInfo& run) : run_(run) {}

  void take(const journal::EventEntry& entry) {
    const Status taken = entry.kind == format::FrameKind::kEvent ? take_event(entry.json) : take_words(entry.json);
    if (!taken.ok()) ++contents_.unreadable;
  }
  LedgerContents& contents() { return contents_; }

 private:
  Status take_event(const std::string& json) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Event event, decode_event(json));
    const std::uint64_t last = contents_.events.size();
    if (event.seq <= last) return Status(Code::kDataLoss, "an event that is there already");
    // More than a segment could hold: not lost events but a damaged number.
    if (event.seq - last > kMostLost) return Status(Code::kDataLoss, "a number far from the others");
    for (std::uint64_t seq = last + 1; seq < event.seq; ++seq) {
      contents_.events.push_back(stand_in(seq, run_, event));
      ++contents_.lost_events;
    }
    contents_.events.push_back(std::move(event));
    return {};
  }

  Status take_words(const std::string& json) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto delivery, decode_delivery(json));
    if (delivery) contents_.deliveries.push_back(*std::move(delivery));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto subscribed, decode_subscribed(json));
    if (subscribed) take_subscribed(*std::move(subscribed));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto intake, decode_intake(json));
    if (!intake) return {};
    for (const auto& [journal, entries] : *intake) contents_.intake[journal] = entries;
    return {};
  }

  void take_subscribed(SubscribedRecord record) {
    const auto same = std::find_if(contents_.subscribed.begin(), contents_.subscribed.end(),
                                   [&](const auto& other) { return other.subscription == record.subscription; });
    if (same == contents_.subscribed.end()) {
      contents_.subscribed.push_back(std::move(record));
    } else {
      *same = std::move(record);
    }
  }

  static constexpr std::uint64_t kMostLost = 1'000'000;

  const journal::RunInfo& run_;
  LedgerContents contents_;
};

}  // namespace

std::string encode_intake(const Intake& intake) {
  return format::dump_json({{"type", kIntakeType}, {"journals", OrderedJson(intake)}});
}

Result<std::optional<Intake>> decode_intake(std::string_view text) {
  return no_throw([&]() -> Result<std::optional<Intake>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, kIntakeType));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, format::string_field(json, "type"));
    if (type != kIntakeType) return std::optional<Intake>();
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* journals, format::object_field(json, "journals"));
    Intake intake;
    for (const auto& [journal, entries] : journals->items()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(intake[journal], format::uint_field(*journals, journal.c_str()));
    }
    return std::optional<Intake>(std::move(intake));
  });
}

Result<LedgerContents> contents_of(journal::JournalReader& reader, const journal::RunInfo& run) {
  Contents contents(run);
  TRAINWARDEN_RETURN_IF_ERROR(
      reader.visit_events(0, [&](std::size_t, const journal::EventEntry& entry) { contents.take(entry); }));
  for (const RunLoss& loss : reader.losses()) contents.contents().unreadable += loss.count;
  return std::move(contents.contents());
}

}  // namespace trainwarden::events
