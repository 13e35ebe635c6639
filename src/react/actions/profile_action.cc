#include "react/actions/profile_action.h"

#include <utility>

#include <fmt/format.h>

#include "data/format/control_record.h"
#include "react/actions/request.h"

namespace trainwarden::actions {
namespace {

class ProfileAction final : public Action {
 public:
  ProfileAction(ProfileActionOptions options, RunContext run) : options_(options), run_(std::move(run)) {}

  std::string_view name() const override { return "profile"; }
  std::string place() const override { return run_.name; }
  // Does not wait: each worker answers in its own journal when its next step begins.
  ActionOutcome run(const EventNotice& notice, std::stop_token /*stop*/) override {
    const auto outcome = ask(notice);
    return outcome.ok() ? *outcome : outcome_of_failure(outcome.status());
  }

 private:
  Result<ActionOutcome> ask(const EventNotice& notice) {
    const format::RequestId id{format::RequestKind::kProfile, notice.key};
    // Another attempt would name another step.
    if (run_.storage->exists(format::path_of(id))) return ActionOutcome::done("asked before");
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool ended, has_ended(notice));
    if (ended) {
      return ActionOutcome::give_up(
          Status(Code::kFailedPrecondition, "the training has ended: no step of it comes that could be recorded"));
    }
    format::ProfileRequest request{.key = notice.key, .steps = options_.steps};
    request.requested_by = notice.requested_by;
    request.unix_ns = run_.clock->unix_ns();
    if (run_.common_step) {
      TRAINWARDEN_ASSIGN_OR_RETURN(request.first_step, run_.common_step());
    }
    TRAINWARDEN_RETURN_IF_ERROR(put_request(run_, id, format::encode_profile_request(request)));
    const std::string from = request.first_step < 0 ? "its next one" : fmt::format("step {}", request.first_step);
    return ActionOutcome::done(fmt::format("asked for {} steps from {} on", options_.steps, from));
  }

  // Every answer of a run says so, of whatever request.
  Result<bool> has_ended(const EventNotice& notice) const {
    if (!run_.answer_to) return false;
    TRAINWARDEN_ASSIGN_OR_RETURN(const RunAnswer answer, run_.answer_to({format::RequestKind::kStop, notice.key}));
    return answer.ended;
  }

  const ProfileActionOptions options_;
  const RunContext run_;
};

}  // namespace

std::unique_ptr<Action> make_profile_action(ProfileActionOptions options, RunContext run) {
  return std::make_unique<ProfileAction>(options, std::move(run));
}

const ActionKind& profile_kind() {
  static const ActionKind kind{
      .name = "profile",
      .summary = "Asks the training to record which operators run in its next steps, on every rank at the same ones.",
      .parameters = {{"steps", "10", "How many steps."}},
      .create = [](ActionParameters& parameters, const RunContext& run) -> Result<std::unique_ptr<Action>> {
        ProfileActionOptions options;
        options.steps = parameters.integer("steps", options.steps, 1, format::kMaxProfileSteps);
        TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
        return make_profile_action(options, run);
      }};
  return kind;
}

}  // namespace trainwarden::actions
