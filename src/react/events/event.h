// Event: one change of a run's or a rule's state, or one alarm, as a CloudEvent (docs/format/ledger.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::events {

enum class ChangeKind : std::uint8_t {
  kRun,    // the run's status, primary or secondary
  kRule,   // a rule's status
  kAlert,  // a verdict fired that people are to be notified of; no status need have changed
  kJob,    // the status of a job, which is more than that of its run: it also waits, fetches and stores
};
std::string_view name(ChangeKind kind);  // "run", "rule", "alert", "job"

inline constexpr const char* kStateChangeType = "io.trainwarden.training_job.state_change.v1";
inline constexpr const char* kAlertType = "io.trainwarden.training_job.alert.v1";
// The "detail-type" of an alert in EventBridge's envelope.
inline constexpr const char* kEventBridgeAlertType = "Trainwarden Training Job Alert";
// Stands where an event was that cannot be read any more. It changes nothing.
inline constexpr const char* kLostType = "io.trainwarden.training_job.event_lost.v1";

struct Change {
  ChangeKind kind = ChangeKind::kRun;
  std::string rule;  // the rule's id; empty for the run's and the job's
  std::string
      from;  // statuses: "InProgress"; of a run or job with the secondary one: "InProgress/Training". Empty: none
  std::string to;
};

struct Event {
  std::uint64_t seq = 0;      // 1, 2, 3, ... within the ledger that has it, without a gap
  std::uint64_t own_seq = 0;  // within its run or job, where the ledger has events of several; 0: seq
  std::string id;             // "<run id>-<seq>", or its job's own
  std::string key;            // EventNotice::key
  std::string type;           // kStateChangeType, kAlertType or kLostType
  std::string subject;        // the rule's id, "run" or "job"
  std::string source;         // "/trainwarden/<host>/runs/<name>", or ".../jobs/<name>"
  std::int64_t unix_ns = 0;   // when it happened
  Change change;
  std::int64_t global_step = -1;                                         // of an alert or a rule that fired
  std::string headline;                                                  // for people, one line
  std::string text;                                                      // for people, the rest
  std::uint64_t number() const { return own_seq == 0 ? seq : own_seq; }  // within its run or job

  // The whole state after the change, as `describe` shows it, with `seq`, `change`, `headline`, `text`, of an alert
  // also `alert` (the verdict), beside it. Times in it are milliseconds since 1970, as texts at the top and as numbers
  // within lists, as in the events of the source.
  format::OrderedJson data;
};

// Puts the number within its run or job as `seq`, `change`, `headline` and `text` of the event into its data, where
// they take the place of older ones.
void complete_data(Event& event);

// One CloudEvents 1.0 document in structured mode, its data completed. What decode reads back is the same event.
std::string encode_event(const Event& event);
Result<Event> decode_event(std::string_view json);  // kDataLoss

// The same event in EventBridge's envelope: "source": "aws.sagemaker", "detail-type": "SageMaker Training Job State
// Change", "detail": data. Alerts have the detail-type "Trainwarden Training Job Alert" and the source "trainwarden".
std::string encode_as_eventbridge(const Event& event);

}  // namespace trainwarden::events
