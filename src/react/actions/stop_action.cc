#include "react/actions/stop_action.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/format/control_record.h"
#include "react/actions/request.h"
#include "react/actions/worker_processes.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;
using Then = StopOptions::Then;

constexpr milliseconds kKillTime{10'000};  // for the system to take a killed process away

std::string text_of(milliseconds time) {
  return format_duration_ns(std::chrono::nanoseconds(time).count());
}

// One stop, from the request to the end. What happened is kept step by step for the outcome.
class StopCourse {
 public:
  StopCourse(const StopOptions& options, const RunContext& run, const EventNotice& notice, const std::stop_token& stop)
      : options_(options), run_(run), notice_(notice), stop_(stop) {}

  ActionOutcome go() {
    const auto outcome = ask();
    if (!outcome.ok()) return outcome_of_failure(outcome.status());
    return *outcome;
  }

 private:
  Result<ActionOutcome> ask() {
    if (run_.answer_to) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const RunAnswer before, run_.answer_to(request_));
      if (before.ended) return ActionOutcome::done("the training has ended already");
      if (before.accepted) return accepted("the training is stopping already");
    }
    // First what the training is to write: it answers in the order in which it was asked, and then it is gone.
    if (!notice_.rule.empty()) TRAINWARDEN_RETURN_IF_ERROR(put_black_box_request(run_, notice_));
    if (options_.save_first) TRAINWARDEN_RETURN_IF_ERROR(put_checkpoint_request(run_, notice_));
    TRAINWARDEN_RETURN_IF_ERROR(put_request(
        run_, request_,
        format::encode_stop_request({notice_.key, reason_of(notice_), notice_.requested_by, run_.clock->unix_ns()})));
    if (!run_.answer_to) return ActionOutcome::done("asked; nobody waits for an answer here");
    TRAINWARDEN_ASSIGN_OR_RETURN(const Waited waited, wait_for(options_.grace, [](const RunAnswer& answer) {
                                   return answer.accepted || answer.ended;
                                 }));
    if (waited == Waited::kHappened)
      return last_.ended ? ended() : accepted("the training has taken the request, and stops at the end of its step");
    if (waited == Waited::kLeft) return left();
    note(fmt::format("the training did not answer within {}", text_of(options_.grace)));
    if (options_.then != Then::kNothing) return send_term();
    return ActionOutcome::try_again(
        Status(Code::kDeadlineExceeded, story() + "; the request stays, and it stops once it reads it: " +
                                            run_.storage->describe(format::path_of(request_))));
  }

  // Who only asks is done with the answer; who insists wants to see the end.
  Result<ActionOutcome> accepted(std::string what) {
    note(std::move(what));
    if (options_.then == Then::kNothing) return ActionOutcome::done(story());
    TRAINWARDEN_ASSIGN_OR_RETURN(const Waited waited, wait_for_end(options_.term_grace));
    if (waited == Waited::kHappened) return ended();
    if (waited == Waited::kLeft) return left();
    note(fmt::format("it has not ended within {} of its answer", text_of(options_.term_grace)));
    return send_term();
  }

  Result<ActionOutcome> send_term() {
    TRAINWARDEN_RETURN_IF_ERROR(check_still_there(run_));
    if (!signal_all(SIGTERM, "SIGTERM")) return nobody_here();
    TRAINWARDEN_ASSIGN_OR_RETURN(const Waited waited, wait_for_end(options_.term_grace));
    if (waited == Waited::kHappened) return ended();
    if (waited == Waited::kLeft) return left();
    note(fmt::format("it has not ended within {} of that", text_of(options_.term_grace)));
    if (options_.then == Then::kKill) return send_kill();
    return ActionOutcome::give_up(
        Status(Code::kDeadlineExceeded, story() + "; with then = \"kill\" SIGKILL would follow"));
  }

  Result<ActionOutcome> send_kill() {
    TRAINWARDEN_RETURN_IF_ERROR(check_still_there(run_));
    if (!signal_all(SIGKILL, "SIGKILL")) return nobody_here();
    TRAINWARDEN_ASSIGN_OR_RETURN(const Waited waited, wait_for_end(kKillTime));
    if (waited == Waited::kHappened) return ended();
    if (waited == Waited::kLeft) return left();
    return ActionOutcome::try_again(
        Status(Code::kDeadlineExceeded, story() + "; the system has not yet taken every process of it away"));
  }

  // True when a process of this machine got it, or none is left that could.
  bool signal_all(int signal_number, std::string_view name) {
    const std::vector<LivingWorker> workers = living_workers(*run_.storage);
    bool any = workers.empty();
    for (const LivingWorker& worker : workers) {
      const Status sent = signal_worker(*run_.storage, worker, signal_number);
      if (sent.ok()) note(fmt::format("{} to process {} ({})", name, *worker.process, worker.name));
      if (!sent.ok()) note(fmt::format("no {}: {}", name, sent.message()));
      any = any || sent.ok();
    }
    return any;
  }

  Result<ActionOutcome> nobody_here() const {
    return ActionOutcome::try_again(
        Status(Code::kFailedPrecondition,
               story() + "; none of its processes could be signalled from here, and the request to stop stays"));
  }

  ActionOutcome ended() {
    note("it has ended");
    return ActionOutcome::done(story());
  }

  ActionOutcome left() const {
    return ActionOutcome::try_again(
        Status(Code::kCancelled, (notes_.empty() ? "left before the training answered" : story() + "; left then") +
                                     std::string("; the request to stop stays")));
  }

  Result<Waited> wait_for(milliseconds time, const std::function<bool(const RunAnswer&)>& enough) {
    return wait_until(
        [&]() -> Result<bool> {
          TRAINWARDEN_ASSIGN_OR_RETURN(last_, run_.answer_to(request_));
          return enough(last_);
        },
        time, stop_, *run_.clock);
  }

  // It says so, or nobody holds a journal of the run any more.
  Result<Waited> wait_for_end(milliseconds time) {
    return wait_for(time,
                    [this](const RunAnswer& answer) { return answer.ended || living_workers(*run_.storage).empty(); });
  }

  void note(std::string what) { notes_.push_back(std::move(what)); }
  std::string story() const { return fmt::format("{}", fmt::join(notes_, "; ")); }

  const StopOptions& options_;
  const RunContext& run_;
  const EventNotice& notice_;
  const std::stop_token& stop_;
  const format::RequestId request_{format::RequestKind::kStop, notice_.key};
  RunAnswer last_;
  std::vector<std::string> notes_;
};

class StopAction final : public Action {
 public:
  StopAction(StopOptions options, RunContext run) : options_(options), run_(std::move(run)) {}

  std::string_view name() const override { return "stop"; }
  std::string place() const override { return run_.name; }
  ActionOutcome run(const EventNotice& notice, std::stop_token stop) override {
    return StopCourse(options_, run_, notice, stop).go();
  }

 private:
  const StopOptions options_;
  const RunContext run_;
};

Result<std::unique_ptr<Action>> create_stop(ActionParameters& parameters, const RunContext& run) {
  StopOptions options;
  options.grace = parameters.duration("grace", options.grace);
  const std::string then = parameters.choice("then", "nothing", {"nothing", "term", "kill"});
  options.then = then == "kill" ? Then::kKill : then == "term" ? Then::kTerm : Then::kNothing;
  options.save_first = parameters.flag("save_first", false);
  options.term_grace = parameters.duration("term_grace", options.term_grace);
  TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
  return make_stop_action(options, run);
}

}  // namespace

std::unique_ptr<Action> make_stop_action(StopOptions options, RunContext run) {
  return std::make_unique<StopAction>(options, std::move(run));
}

const ActionKind& stop_kind() {
  static const ActionKind kind{
      .name = "stop",
      .summary =
          "Asks the training to stop at the end of its step, after it has written what its black box holds of what "
          "led to it, and waits for its answer.",
      .parameters =
          {{"grace", "30s", "How long the training has to answer."},
           {"then", "nothing",
            "What follows when it has not: \"nothing\" (the request stays, and it is asked again later), \"term\" "
            "(SIGTERM to its processes on this machine), or \"kill\" (SIGKILL after that)."},
           {"save_first", "false",
            "Whether the training is asked for a checkpoint before, which it then saves in the same step; true by "
            "itself "
            "where do = [\"save\", \"stop\"]."},
           {"term_grace", "120s",
            "How long it has after its answer until SIGTERM, and after SIGTERM until SIGKILL; of use with \"term\" and "
            "\"kill\"."}},
      .create = create_stop};
  return kind;
}

}  // namespace trainwarden::actions
