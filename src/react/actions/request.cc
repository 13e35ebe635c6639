#include "react/actions/request.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/pause.h"
#include "core/base/text.h"
#include "data/format/request_address.h"
#include "store/storage/naming.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLongestPause{50};
constexpr std::size_t kMostReasonBytes = 2000;
constexpr std::uint64_t kMaxRequestBytes = 1 << 20;

}  // namespace

std::string reason_of(const EventNotice& notice) {
  std::string reason = notice.headline;
  const std::string what = notice.text.substr(0, notice.text.find('\n'));
  if (!notice.rule.empty() && !what.empty()) reason += ": " + what;
  if (reason.size() <= kMostReasonBytes) return reason;
  return reason.substr(0, kMostReasonBytes) + "...";
}

Status put_request(storage::Storage& storage, std::string_view run_id, const format::RequestId& request,
                   std::string_view content) {
  TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(format::kControlFolder));
  const std::string path = format::path_of(request);
  const std::string text = format::address_request(content, run_id);
  const Status put = storage.put_if_absent(path, as_bytes(text));
  if (put.code() != Code::kAlreadyExists) return put;
  const auto there = storage.read(path, kMaxRequestBytes);
  const Status same = there.ok() ? format::check_same_request(text, *there) : there.status();
  if (same.ok()) return {};
  return Status(same.code(), fmt::format("nothing was asked: {} is taken: {}; ask under another key, or move it away",
                                         storage.describe(path), printable(same.message())));
}

Status check_still_there(const RunContext& run) {
  return run.still_there ? run.still_there() : Status();
}

Status put_request(const RunContext& run, const format::RequestId& request, std::string_view content) {
  TRAINWARDEN_RETURN_IF_ERROR(check_still_there(run));
  return put_request(*run.storage, run.run_id, request, content);
}

Status put_black_box_request(const RunContext& run, const EventNotice& notice) {
  if (!run.storage->exists(format::kBlackBoxFolder)) return {};
  return put_request(run, {format::RequestKind::kBlackBox, notice.key},
                     format::encode_black_box_request({notice.key, reason_of(notice), notice.rule, notice.global_step,
                                                       notice.requested_by, run.clock->unix_ns()}));
}

Status put_checkpoint_request(const RunContext& run, const EventNotice& notice) {
  return put_request(run, {format::RequestKind::kCheckpoint, notice.key},
                     format::encode_checkpoint_request({notice.key, reason_of(notice), notice.rule, notice.global_step,
                                                        notice.requested_by, run.clock->unix_ns()}));
}

Status put_examine_request(storage::Storage& storage, std::string_view run_id, format::ExamineRequest request) {
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, storage::random_name());
  request.unix_ns = system_clock().unix_ns();
  return put_request(storage, run_id, {format::RequestKind::kExamine, request.key},
                     format::encode_examine_request(request));
}

ActionOutcome outcome_of_failure(Status status) {
  const Code code = status.code();
  const bool for_good = code == Code::kPermissionDenied || code == Code::kNotFound || code == Code::kInvalidArgument ||
                        code == Code::kUnimplemented || code == Code::kAlreadyExists ||
                        code == Code::kFailedPrecondition;
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
