#include "actions/request.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/pause.h"
#include "format/control_record.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLongestPause{50};
constexpr std::size_t kMostReasonBytes = 2000;

}  // namespace

std::string reason_of(const Notice& notice) {
  std::string reason = notice.headline;
  const std::string what = notice.text.substr(0, notice.text.find('\n'));
  if (!notice.rule.empty() && !what.empty()) reason += ": " + what;
  if (reason.size() <= kMostReasonBytes) return reason;
  return reason.substr(0, kMostReasonBytes) + "...";
}

Status put_request(const RunContext& run, const std::string& path, std::string_view content) {
  TRAINWARDEN_RETURN_IF_ERROR(run.storage->create_folder(format::kControlFolder));
  const Status put = run.storage->put_if_absent(path, as_bytes(content));
  return put.code() == Code::kAlreadyExists ? Status() : put;
}

Status put_black_box_request(const RunContext& run, const Notice& notice) {
  if (!run.storage->exists(format::kBlackBoxFolder)) return {};
  return put_request(run, format::black_box_request_path(notice.key),
                     format::encode_black_box_request({notice.key, reason_of(notice), notice.rule, notice.global_step,
                                                       notice.requested_by, run.clock->unix_ns()}));
}

Status put_checkpoint_request(const RunContext& run, const Notice& notice) {
  return put_request(run, format::checkpoint_request_path(notice.key),
                     format::encode_checkpoint_request({notice.key, reason_of(notice), notice.rule, notice.global_step,
                                                        notice.requested_by, run.clock->unix_ns()}));
}

ActionOutcome outcome_of_failure(Status status) {
  const Code code = status.code();
  const bool for_good = code == Code::kPermissionDenied || code == Code::kNotFound || code == Code::kInvalidArgument ||
                        code == Code::kUnimplemented;
  return for_good ? ActionOutcome::give_up(std::move(status)) : ActionOutcome::try_again(std::move(status));
}

Result<Waited> wait_until(const std::function<Result<bool>()>& happened, milliseconds time, const std::stop_token& stop,
                          const Clock& clock) {
  const std::int64_t start_ns = clock.steady_ns();
  for (milliseconds interval = kFirstPause;; interval = std::min(interval * 2, kLongestPause)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool seen, happened());
    if (seen) return Waited::kHappened;
    if (stop.stop_requested()) return Waited::kLeft;
    if (clock.steady_ns() - start_ns >= std::chrono::nanoseconds(time).count()) return Waited::kTooLong;
    pause_for(interval, stop);
  }
}

}  // namespace trainwarden::actions
