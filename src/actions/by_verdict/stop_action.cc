#include "actions/by_verdict/stop_action.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/pause.h"
#include "format/control_record.h"

namespace trainwarden::actions::by_verdict {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLongestPause{20};

std::string reason_of(const FiredVerdict& fired) {
  return fmt::format("{} fired at {}: {}", fired.rule_id, fired.step_text, fired.verdict.message);
}

}  // namespace

StopAction::StopAction(storage::Storage& run_storage, StopAnswer answered, StopOptions options)
    : run_storage_(run_storage), answered_(std::move(answered)), options_(std::move(options)) {}

Status StopAction::run(const ActionContext& context) {
  TRAINWARDEN_RETURN_IF_ERROR(put_request(context));
  return wait_for_answer(context);
}

Status StopAction::put_request(const ActionContext& context) {
  const std::string request = format::encode_stop_request(
      {context.key, reason_of(context.fired), context.requested_by, options_.clock->unix_ns()});
  TRAINWARDEN_RETURN_IF_ERROR(run_storage_.create_folder(format::kControlFolder));
  const Status put = run_storage_.put_if_absent(format::stop_request_path(context.key), as_bytes(request));
  return put.code() == Code::kAlreadyExists ? Status() : put;
}

Status StopAction::wait_for_answer(const ActionContext& context) {
  const std::int64_t start_ns = options_.clock->steady_ns();
  const std::int64_t timeout_ns = std::chrono::nanoseconds(options_.timeout).count();
  for (milliseconds interval = kFirstPause;; interval = std::min(interval * 2, kLongestPause)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool answered, answered_(context.key));
    if (answered) return {};
    if (context.stop.stop_requested()) {
      return Status(Code::kCancelled, "left before the training answered; the request to stop stays");
    }
    if (options_.clock->steady_ns() - start_ns >= timeout_ns) {
      return Status(
          Code::kDeadlineExceeded,
          fmt::format("the training did not answer the request {} within {} ms; it answers at the end of a step, "
                      "and the request stays",
                      run_storage_.describe(format::stop_request_path(context.key)), options_.timeout.count()));
    }
    pause(interval, context.stop);
  }
}

void StopAction::pause(milliseconds interval, const std::stop_token& stop) const {
  if (options_.pause) return options_.pause(interval, stop);
  pause_for(interval, stop);
}

}  // namespace trainwarden::actions::by_verdict
