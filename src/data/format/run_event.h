// Run end: the event with which a worker says that it left on purpose. A journal without one belongs to a run that
// still goes on or that died. Run resume: the event with which a later process of this worker takes that back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

struct RunEndEvent {
  bool stopped = false;  // after a stop request; otherwise the program came to its end
  std::string reason;    // of the stop
  friend bool operator==(const RunEndEvent&, const RunEndEvent&) = default;
};

std::string encode_run_end(const RunEndEvent& event);

std::string encode_run_resume();
bool is_run_resume(std::string_view json);

// The "type" of any event.
Result<std::string> event_type(std::string_view json);
// None when the event is of another type.
Result<std::optional<RunEndEvent>> decode_run_end(std::string_view json);

}  // namespace trainwarden::format
