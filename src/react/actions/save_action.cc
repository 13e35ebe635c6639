#include "react/actions/save_action.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/control_record.h"
#include "react/actions/request.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDumpWait{60'000};
constexpr const char* kNoBlackBox = "the run has no black box (start it with --black-box)";
// One of the two things that are asked for.
struct Wish {
  std::string what;           // "checkpoint", "black box"
  format::RequestId request;  // of the request
  bool made = false;          // it is asked for
  RunAnswer answer{};

  bool settled() const { return !made || answer.done || !answer.refused.empty() || answer.ended; }
  std::string text() const {
    if (!made) return fmt::format("{}: {}", what, kNoBlackBox);
    if (answer.done) return fmt::format("{} at {}", what, answer.detail.empty() ? "a place of its own" : answer.detail);
    if (!answer.refused.empty()) return fmt::format("no {}: {}", what, answer.refused);
    if (answer.ended) return fmt::format("no {}: the training has ended", what);
    return fmt::format("no {} yet{}", what, answer.accepted ? ", though it has begun" : "");
  }
};

class SaveCourse {
 public:
  SaveCourse(const SaveOptions& options, const RunContext& run, const EventNotice& notice, const std::stop_token& stop)
      : options_(options), run_(run), notice_(notice), stop_(stop) {}

  ActionOutcome go() {
    const auto outcome = ask();
    if (!outcome.ok()) return outcome_of_failure(outcome.status());
    return *outcome;
  }

 private:
  Result<ActionOutcome> ask() {
    dump_.made = run_.storage->exists(format::kBlackBoxFolder);
    checkpoint_.made = options_.checkpoint;
    if (!dump_.made && !checkpoint_.made) {
      if (!options_.needed) return ActionOutcome::done();
      return ActionOutcome::give_up(Status(Code::kFailedPrecondition, kNoBlackBox));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool there, look());
    if (there) return outcome();
    TRAINWARDEN_RETURN_IF_ERROR(put_requests());
    if (!run_.answer_to) return ActionOutcome::done("asked; nobody waits for an answer here");
    // Who does not wait has what it wants; a refusal that comes within the same millisecond is reported by the run's
    // events.
    if (options_.wait <= milliseconds(0)) return unfinished(Code::kDeadlineExceeded, "asked, and nobody waits");
    TRAINWARDEN_ASSIGN_OR_RETURN(const Waited waited,
                                 wait_until([this] { return look(); }, options_.wait, stop_, *run_.clock));
    if (waited == Waited::kHappened) return outcome();
    if (waited == Waited::kLeft) return unfinished(Code::kCancelled, "left before the training had written all");
    return unfinished(Code::kDeadlineExceeded,
                      fmt::format("the training did not write all within {}",
                                  format_duration_ns(std::chrono::nanoseconds(options_.wait).count())));
  }

  // The black box first: a checkpoint may take long, and the steps before the event would be gone from it.
  Status put_requests() {
    if (dump_.made) TRAINWARDEN_RETURN_IF_ERROR(put_black_box_request(run_, notice_));
    if (!checkpoint_.made) return {};
    return put_checkpoint_request(run_, notice_);
  }

  // Is everything there, or refused?
  Result<bool> look() {
    if (!run_.answer_to) return false;
    for (Wish* wish : {&dump_, &checkpoint_}) {
      if (!wish->made) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(wish->answer, run_.answer_to(wish->request));
    }
    return dump_.settled() && checkpoint_.settled();
  }

  ActionOutcome outcome() const {
    const Wish& wanted = checkpoint_.made ? checkpoint_ : dump_;
    // A black box that nobody asked for by name may refuse: it holds nothing yet, or what inside the training vetoed a
    // step has written it already.
    if (wanted.answer.done || (!checkpoint_.made && !options_.needed)) return ActionOutcome::done(story());
    return ActionOutcome::give_up(Status(Code::kFailedPrecondition, story()));
  }

  ActionOutcome unfinished(Code code, const std::string& what) const {
    return ActionOutcome::try_again(
        Status(code, fmt::format("{} ({}); it does so at the end of a step, and the request stays", what, story())));
  }

  std::string story() const {
    if (!checkpoint_.made) return dump_.text();
    return fmt::format("{}; {}", checkpoint_.text(), dump_.text());
  }

  const SaveOptions& options_;
  const RunContext& run_;
  const EventNotice& notice_;
  const std::stop_token& stop_;
  Wish checkpoint_{"checkpoint", {format::RequestKind::kCheckpoint, notice_.key}};
  Wish dump_{"black box", {format::RequestKind::kBlackBox, notice_.key}};
};

class SaveAction final : public Action {
 public:
  SaveAction(SaveOptions options, RunContext run) : options_(options), run_(std::move(run)) {}

  std::string_view name() const override { return options_.checkpoint ? "save" : "black-box"; }
  std::string place() const override { return run_.name; }
  ActionOutcome run(const EventNotice& notice, std::stop_token stop) override {
    return SaveCourse(options_, run_, notice, stop).go();
  }

 private:
  const SaveOptions options_;
  const RunContext run_;
};

Result<std::unique_ptr<Action>> create_save(ActionParameters& parameters, const RunContext& run, SaveOptions options) {
  options.wait = parameters.duration("wait", options.wait);
  TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
  return make_save_action(options, run);
}

}  // namespace

std::unique_ptr<Action> make_save_action(SaveOptions options, RunContext run) {
  return std::make_unique<SaveAction>(options, std::move(run));
}

const ActionKind& save_kind() {
  static const ActionKind kind{
      .name = "save",
      .summary = "Asks the training for a checkpoint, and for the steps that its black box holds.",
      .parameters = {{"wait", "5m", "How long the training has until both are written; then it is asked again later."}},
      .create = [](ActionParameters& parameters, const RunContext& run) { return create_save(parameters, run, {}); }};
  return kind;
}

const ActionKind& black_box_kind() {
  static const ActionKind kind{
      .name = "black-box",
      .summary = "Asks the training for the steps that its black box holds.",
      .parameters = {{"wait", "1m", "How long the training has until they are written; then it is asked again later."},
                     {"needed", "true", "Whether it is a failure that the training has no black box."}},
      .create = [](ActionParameters& parameters, const RunContext& run) {
        const bool needed = parameters.flag("needed", true);
        return create_save(parameters, run, {.wait = kDumpWait, .checkpoint = false, .needed = needed});
      }};
  return kind;
}

}  // namespace trainwarden::actions
