// `trainwarden profile`: has the workers of a training record which operators run in some of its next steps.
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/pause.h"
#include "data/format/control_record.h"
#include "data/format/profile_events.h"
#include "react/actions/request.h"
#include "react/watch/common_step.h"
#include "read/trial/trial_access.h"
#include "store/storage/naming.h"
#include "trainwarden/hook.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

using format::ProfileEvent;
using format::ProfileState;

constexpr std::chrono::milliseconds kProfileLookInterval{20};

struct ProfileOptions {
  RunChoice run;
  std::int64_t steps = kDefaultOperatorSteps;
  std::int64_t first_step = -1;
  bool wait = false;
  double timeout_s = 30;
  bool json = false;
};

using ProfileAnswers = std::map<std::string, ProfileEvent>;  // by worker, the newest of each

struct ProfileOutcome {
  format::ProfileRequest request;
  ProfileAnswers answers;
  std::vector<std::string> silent;  // living workers that have not answered, or not finished, in time

  bool good() const {
    const bool refused = std::any_of(answers.begin(), answers.end(),
                                     [](const auto& answer) { return answer.second.state == ProfileState::kRefused; });
    return silent.empty() && !answers.empty() && !refused;
  }
};

ProfileAnswers profile_answers_to(const std::string& key, const Trial& trial) {
  ProfileAnswers answers;
  TrialAccess::visit_events(trial, [&](const std::string& worker, const journal::EventEntry& entry) {
    if (entry.kind != format::FrameKind::kEvent) return;
    const auto event = format::decode_profile_event(entry.json);
    if (event.ok() && *event && (*event)->key == key) answers[worker] = **event;
  });
  return answers;
}

Status check_profilable(const Trial& trial) {
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(trial, "a request to its training"));
  if (trial.state() == RunState::kRunning) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("the training of {} has ended ({}): no step of it comes that could be recorded",
                            run_name(trial.path()), name(trial.state())));
}

Result<format::ProfileRequest> put_profile_request(const ProfileOptions& options, const Trial& trial) {
  format::ProfileRequest request{.steps = options.steps, .requested_by = "user"};
  request.unix_ns = system_clock().unix_ns();
  request.first_step =
      options.first_step >= 0 ? options.first_step : watch::first_common_step(watch::pace_of(trial), request.unix_ns);
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, storage::random_name());
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_same_run(trial));
  TRAINWARDEN_RETURN_IF_ERROR(actions::put_request(TrialAccess::location(trial).storage(), TrialAccess::identity(trial),
                                                   {format::RequestKind::kProfile, request.key},
                                                   format::encode_profile_request(request)));
  return request;
}

bool is_settled(const ProfileEvent& answer, bool wait) {
  return !wait || answer.state != ProfileState::kAccepted;
}

// Until every worker that lives has answered, with `wait` until it has recorded, or time is up.
Result<ProfileOutcome> await_profile(const ProfileOptions& options, format::ProfileRequest request, Trial& trial) {
  const std::int64_t start_ns = system_clock().steady_ns();
  ProfileOutcome outcome{.request = std::move(request), .answers = {}, .silent = {}};
  for (;;) {
    TRAINWARDEN_RETURN_IF_ERROR(trial.refresh());
    outcome.answers = profile_answers_to(outcome.request.key, trial);
    outcome.silent = TrialAccess::living_workers(trial);
    std::erase_if(outcome.silent, [&](const std::string& worker) {
      const auto answer = outcome.answers.find(worker);
      return answer != outcome.answers.end() && is_settled(answer->second, options.wait);
    });
    const double waited_s = static_cast<double>(system_clock().steady_ns() - start_ns) / 1e9;
    const bool settled = !outcome.answers.empty() || trial.state() != RunState::kRunning;
    if ((outcome.silent.empty() && settled) || waited_s >= options.timeout_s) return outcome;
    pause_for(kProfileLookInterval, {});
  }
}

std::string profile_story(const ProfileEvent& answer) {
  switch (answer.state) {
    case ProfileState::kAccepted:
      return fmt::format("records {} steps from step {} on", answer.steps, answer.first_step);
    case ProfileState::kFinished:
      if (answer.calls == 0) {
        return fmt::format("nothing in {} steps from step {} on: no adapter of ours listens to a framework there",
                           answer.steps, answer.first_step);
      }
      return fmt::format("recorded {} calls in {} steps from step {} on", answer.calls, answer.steps,
                         answer.first_step);
    case ProfileState::kRefused: return fmt::format("refused: {}", answer.error);
  }
  return {};
}

void print_profile(const ProfileOutcome& outcome) {
  for (const auto& [worker, answer] : outcome.answers) emit("{}: {}\n", worker, profile_story(answer));
  for (const std::string& worker : outcome.silent) {
    if (!outcome.answers.contains(worker)) {
      emit("{}: no answer yet; it answers when its next step begins, and the request stays\n", worker);
    } else {
      emit("{}: the steps are not over yet, and are recorded all the same; --timeout waits longer\n", worker);
    }
  }
  if (outcome.answers.empty() && outcome.silent.empty()) {
    emit("no worker answered: none has begun to write, or the training has ended\n");
  }
}

std::string_view state_word(ProfileState state) {
  switch (state) {
    case ProfileState::kAccepted: return "accepted";
    case ProfileState::kFinished: return "finished";
    case ProfileState::kRefused: return "refused";
  }
  return "unknown";
}

void print_profile_as_json(const ProfileOutcome& outcome, const Trial& trial) {
  OrderedJson workers = OrderedJson::array();
  for (const auto& [worker, answer] : outcome.answers) {
    OrderedJson json = {{"worker", worker},
                        {"state", state_word(answer.state)},
                        {"first_step", answer.first_step},
                        {"steps", answer.steps}};
    if (answer.state == ProfileState::kFinished) json["calls"] = answer.calls;
    if (answer.state == ProfileState::kRefused) json["error"] = answer.error;
    workers.push_back(std::move(json));
  }
  print_json({{"run", run_name(trial.path())},
              {"key", outcome.request.key},
              {"first_step", outcome.request.first_step},
              {"steps", outcome.request.steps},
              {"workers", workers},
              {"silent", outcome.silent}});
}

int act_profile(const ProfileOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  if (const Status fit = check_profilable(**trial); !fit.ok()) return report_error(fit);
  auto request = put_profile_request(options, **trial);
  if (!request.ok()) return report_error(request.status());
  const auto outcome = await_profile(options, *std::move(request), **trial);
  if (!outcome.ok()) return report_error(outcome.status());
  if (options.json) {
    print_profile_as_json(*outcome, **trial);
  } else {
    print_profile(*outcome);
  }
  return outcome->good() ? kExitFine : kExitFailed;
}

}  // namespace

void add_profile(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ProfileOptions>();
  ProfileOptions& o = *options;
  CLI::App& command = add_command(app, "profile", "Record which operators run in the next steps of a training", options,
                                  action, act_profile);
  command.group(kTrainGroup);
  add_run_choice(command, o.run);
  command.add_option("--steps", o.steps, "How many steps (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, format::kMaxProfileSteps));
  command
      .add_option("--first-step", o.first_step,
                  "The global step to begin with (default: one that no worker has reached yet)")
      ->type_name("STEP")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--wait", o.wait, "Wait until the steps are recorded");
  command.add_option("--timeout", o.timeout_s, "How many seconds to wait (default: 30)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden profile first --wait", "trainwarden profile first --steps 3 --first-step 1000"});
}

}  // namespace trainwarden::cli
