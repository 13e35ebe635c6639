#include "react/watch/control.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "data/format/control_record.h"
#include "react/actions/request.h"
#include "react/actions/save_action.h"
#include "react/actions/stop_action.h"
#include "react/watch/run_listener.h"
#include "store/storage/naming.h"

namespace trainwarden {
namespace {

using actions::ActionOutcome;
using actions::RunAnswer;
using std::chrono::milliseconds;
using watch::RunListener;

constexpr std::size_t kMostKeyBytes = 100;

Result<std::string> key_of(const std::string& key) {
  if (key.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string random, storage::random_name());
    return "user-" + random;
  }
  const bool is_key = key.size() <= kMostKeyBytes &&
                      key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (is_key) return key;
  return Status(Code::kInvalidArgument,
                fmt::format("key: expected at most {} of a-z, 0-9 and \"-\", as it names a file; found \"{}\"",
                            kMostKeyBytes, printable(key)));
}

template <class Options>
actions::EventNotice notice_of(const Options& options, const std::string& key, const actions::RunContext& run) {
  actions::EventNotice notice;
  notice.key = key;
  notice.subject = "run";
  notice.unix_ns = run.clock->unix_ns();
  notice.run_name = run.name;
  notice.run = run.path;
  notice.headline = options.reason;
  notice.requested_by = options.requested_by;
  return notice;
}

// Who does not wait has what it wants once the request is there.
bool is_fine(const ActionOutcome& outcome, bool wait) {
  return outcome.status.ok() || (!wait && outcome.status.code() == Code::kDeadlineExceeded);
}

std::string story_of(const ActionOutcome& outcome) {
  return outcome.status.ok() ? outcome.answer : "asked";
}

Status check_status(const std::string& wanted, const std::string& found) {
  if (wanted.empty() || wanted == found) return {};
  return Status(
      Code::kFailedPrecondition,
      fmt::format("expected a run whose status is {}, found {}; nothing was asked of it", printable(wanted), found));
}

Status check_run(const std::string& wanted, const actions::RunContext& run) {
  if (wanted.empty() || wanted == run.run_id) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("{} holds another run by now: expected the run {}, found {}; nothing was asked of it",
                            run.path.string(), printable(wanted), run.run_id));
}

actions::StopOptions stop_options_of(const StopRequestOptions& options) {
  using Given = StopRequestOptions::Then;
  using Then = actions::StopOptions::Then;
  actions::StopOptions made;
  made.grace = options.wait ? options.timeout : milliseconds(0);
  made.then = options.then == Given::kKill ? Then::kKill : options.then == Given::kTerm ? Then::kTerm : Then::kNothing;
  made.term_grace = options.term_grace;
  return made;
}

Result<StopAnswer> stop(const storage::Location& location, const StopRequestOptions& options) {
  if (!options.wait && options.then != StopRequestOptions::Then::kNothing) {
    return Status(Code::kInvalidArgument,
                  "who does not wait cannot see whether the training has to be signalled: "
                  "leave `then` at nothing, or wait");
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto listener, RunListener::open(location, "a request to stop", options.idle));
  const actions::RunContext run = listener->context();
  TRAINWARDEN_RETURN_IF_ERROR(check_run(options.run_id, run));
  StopAnswer answer;
  TRAINWARDEN_ASSIGN_OR_RETURN(answer.key, key_of(options.key));
  const format::RequestId request{format::RequestKind::kStop, answer.key};
  const std::int64_t start_ns = run.clock->steady_ns();
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAnswer before, run.answer_to(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(answer.status_before, listener->status());
  TRAINWARDEN_RETURN_IF_ERROR(check_status(options.if_status, answer.status_before));
  answer.already = before.accepted || before.ended;
  const auto action = actions::make_stop_action(stop_options_of(options), run);
  const ActionOutcome outcome = action->run(notice_of(options, answer.key, run), options.stop);
  if (!is_fine(outcome, options.wait)) return outcome.status;
  answer.story = story_of(outcome);

  RunAnswer now;
  const auto has_ended = [&]() -> Result<bool> {
    TRAINWARDEN_ASSIGN_OR_RETURN(now, run.answer_to(request));
    return now.ended;
  };
  const milliseconds passed((run.clock->steady_ns() - start_ns) / 1'000'000);
  const milliseconds left = options.wait ? std::max(options.timeout - passed, milliseconds(0)) : milliseconds(0);
  TRAINWARDEN_ASSIGN_OR_RETURN(const actions::Waited waited,
                               actions::wait_until(has_ended, left, options.stop, *run.clock));
  answer.accepted = now.accepted;
  answer.ended = waited == actions::Waited::kHappened;
  return answer;
}

Result<SaveAnswer> save(const storage::Location& location, const SaveRequestOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto listener, RunListener::open(location, "a request to save", options.idle));
  const actions::RunContext run = listener->context();
  TRAINWARDEN_RETURN_IF_ERROR(check_run(options.run_id, run));
  SaveAnswer answer;
  TRAINWARDEN_ASSIGN_OR_RETURN(answer.key, key_of(options.key));
  const auto action = actions::make_save_action({.wait = options.wait ? options.timeout : milliseconds(0)}, run);
  const ActionOutcome outcome = action->run(notice_of(options, answer.key, run), options.stop);
  if (!is_fine(outcome, options.wait)) return outcome.status;
  answer.story = story_of(outcome);

  TRAINWARDEN_ASSIGN_OR_RETURN(RunAnswer checkpoint, run.answer_to({format::RequestKind::kCheckpoint, answer.key}));
  TRAINWARDEN_ASSIGN_OR_RETURN(RunAnswer dump, run.answer_to({format::RequestKind::kBlackBox, answer.key}));
  answer.saved = checkpoint.done;
  answer.checkpoint = std::move(checkpoint.detail);
  answer.dumped = dump.done;
  answer.black_box = std::move(dump.detail);
  return answer;
}

}  // namespace

Result<StopAnswer> watch::stop_run(const storage::Location& run, const StopRequestOptions& options) {
  return no_throw([&] { return stop(run, options); });
}

Result<SaveAnswer> watch::save_run(const storage::Location& run, const SaveRequestOptions& options) {
  return no_throw([&] { return save(run, options); });
}

Result<StopAnswer> request_stop(const std::filesystem::path& run_dir, const StopRequestOptions& options) {
  return watch::stop_run(run_dir, options);
}

Result<SaveAnswer> request_save(const std::filesystem::path& run_dir, const SaveRequestOptions& options) {
  return watch::save_run(run_dir, options);
}

}  // namespace trainwarden
