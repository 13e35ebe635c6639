#include "read/trial/output_journal.h"

namespace trainwarden::trial {

void OutputJournal::take(const journal::EventEntry& event) {
  const auto decoded = format::decode_output_report(event.json);
  if (!decoded.ok() || !*decoded) return;
  const format::OutputReport& report = **decoded;
  note_going_on();  // should another reading have ended
  if (reports_.size() < kMaxReadings || reports_.contains(report.began_unix_ns)) {
    reports_[report.began_unix_ns] = report;
  }
}

format::OutputReport OutputJournal::report() const {
  format::OutputReport sum;
  for (const auto& [began, report] : reports_) format::add_report(sum, report);
  return sum;
}

}  // namespace trainwarden::trial
