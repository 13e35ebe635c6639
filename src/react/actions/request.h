// Requests: what actions ask of the training through files in the run's control folder, and the wait for its answer.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "data/format/control_record.h"
#include "react/actions/action.h"
#include "react/actions/run_context.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

// The reason that a request gives: the headline, and of a rule also what is wrong.
std::string reason_of(const EventNotice& notice);

// Puts a request that is meant for the run `run_id` into the control folder, once. Fine when one for the same lies
// there already, from an earlier attempt; kAlreadyExists when something else does, which the training would not take
// for it.
Status put_request(storage::Storage& storage, std::string_view run_id, const format::RequestId& request,
                   std::string_view content);
// The same; nothing is put when another run lies in the run's folder by now.
Status put_request(const RunContext& run, const format::RequestId& request, std::string_view content);
// As RunContext::still_there.
Status check_still_there(const RunContext& run);

// Asks for the steps that the black box holds. Fine when the run has none.
Status put_black_box_request(const RunContext& run, const EventNotice& notice);

// Asks for a checkpoint.
Status put_checkpoint_request(const RunContext& run, const EventNotice& notice);

// Asks for an examination of the next train steps; the request's key and time are set here.
Status put_examine_request(storage::Storage& storage, std::string_view run_id, format::ExamineRequest request);

// Of a call to the storage or of a look at the answers: passing faults are tried again.
ActionOutcome outcome_of_failure(Status status);

enum class Waited : std::uint8_t { kHappened, kTooLong, kLeft };

// Looks until `happened`, for at most `time`, or until the caller is to leave. Its errors end the wait.
Result<Waited> wait_until(const std::function<Result<bool>()>& happened, std::chrono::milliseconds time,
                          const std::stop_token& stop, const Clock& clock);

}  // namespace trainwarden::actions
