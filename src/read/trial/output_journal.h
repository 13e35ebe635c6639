// OutputJournal: the journal of what was found in a worker's output, followed while it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "data/format/output_report.h"
#include "read/trial/side_journal.h"

namespace trainwarden::trial {

// More readings of one output than this, and those above are not counted.
inline constexpr std::size_t kMaxReadings = 1000;

// One thread at a time. The source must outlive it.
class OutputJournal final : public SideJournal {
 public:
  using SideJournal::SideJournal;

  // Over all readings of this output: those that went on after another one.
  format::OutputReport report() const;

 private:
  void take(const journal::EventEntry& event) override;

  std::map<std::int64_t, format::OutputReport> reports_;  // the last of each reading, by when that began
};

}  // namespace trainwarden::trial
