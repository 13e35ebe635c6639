// `trainwarden events rule test`: a test alert to a standing subscription.
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "ui/cli/commands/events_rule.h"
#include "ui/cli/commands/example_alert.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/action_file.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/job_events/standing_wiring.h"

namespace trainwarden::cli {
namespace {

struct RuleTestOptions {
  std::string name;
  std::string jobs;
  bool json = false;
};

// In the folder of jobs, where relative paths of actions begin.
Result<delivery::Subscription> standing_subscription(const RuleTestOptions& options) {
  const std::filesystem::path jobs = std::filesystem::absolute(jobs_folder(options.jobs));
  const job_events::SubscriptionFolder folder(jobs);
  TRAINWARDEN_ASSIGN_OR_RETURN(const job_events::StandingSubscription standing, folder.read(options.name));
  std::error_code error;
  std::filesystem::current_path(jobs, error);
  if (error) return Status(Code::kNotFound, fmt::format("{}: {}", jobs.string(), error.message()));
  return job_events::subscribe_standing(standing, job_events::kinds_for_jobs(all_action_kinds(), jobs), folder);
}

int act(const RuleTestOptions& options) {
  const auto subscription = standing_subscription(options);
  if (!subscription.ok()) return report_error(subscription.status());
  if (subscription->action->name() == "stop") {
    return report_error(Status(Code::kInvalidArgument, "stop cannot be tested without a job to stop"));
  }
  const events::Event alert = example_alert("VanishingGradient", system_clock().unix_ns());
  const actions::ActionOutcome outcome = subscription->action->run(example_notice(alert, *subscription), {});
  if (options.json) {
    print_json({{"name", subscription->name},
                {"action", subscription->action->name()},
                {"place", subscription->action->place()},
                {"outcome", outcome_name(outcome)},
                {"answer", outcome.answer},
                {"message", outcome.status.message()}});
  } else {
    emit("{}\n", outcome_line(*subscription, outcome));
  }
  return outcome.kind == actions::ActionOutcome::Kind::kDone ? kExitFine : kExitFailed;
}

}  // namespace

void add_events_rule_test(CLI::App& rule, CommandAction& action) {
  auto options = std::make_shared<RuleTestOptions>();
  RuleTestOptions& o = *options;
  CLI::App& command =
      add_command(rule, "test", "Send a test alert to one of them, whatever its pattern says", options, action, act);
  command.add_option("SUBSCRIPTION", o.name, "Its name")->required()->type_name("");
  add_jobs_option(command, o.jobs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden events rule test ended"});
}

}  // namespace trainwarden::cli
