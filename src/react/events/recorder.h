// Recorder: sees what changes in a run and writes each change into the ledger, once.
//
// Changes are read from the journals of the run, where engines and workers have put them; so one that happened while
// nobody recorded is recorded when somebody does, and one that was recorded is not recorded again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "react/actions/run_context.h"
#include "react/events/ledger.h"
#include "react/events/run_view.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::events {

// How the program ended, as its parent knows.
struct ProgramEnd {
  int exit_code = 0;  // 128 + N when signal N ended it
  std::int64_t unix_ns = 0;
};

// One thread at a time, the trial's; answer_to() from any thread.
class Recorder {
 public:
  // All must outlive it.
  Recorder(Trial& trial, storage::Storage& run_storage, Ledger& ledger, const Clock& clock = system_clock());
  ~Recorder();

  // Takes in what has changed since; the trial was refreshed right before. Cheap when nothing has.
  Status poll();
  // The caller will say how the program ended: until then its run is not over, whatever its files say. Before the
  // first poll().
  void await_program_end();
  // A record of an engine of this process that could not be written into its journal.
  void take_unwritten(const std::string& json);
  // Once, before the last poll().
  void program_ended(const ProgramEnd& end);

  // Where the run stands, as of the last poll().
  const RunView& view() const;

  // What the training has answered to this request, as of the last poll(). kInvalidArgument for one that no training
  // answers.
  Result<actions::RunAnswer> answer_to(const format::RequestId& request) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden::events
