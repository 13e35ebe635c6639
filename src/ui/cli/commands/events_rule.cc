// `trainwarden events rule`: standing subscriptions to what happens to all jobs of a folder.
#include "ui/cli/commands/events_rule.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/rfc3339.h"
#include "core/base/secret_mask.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/known_rules.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/cli/terminal/time_text.h"
#include "ui/views/event_log.h"
#include "work/job_events/event_folder.h"
#include "work/job_events/standing_wiring.h"
#include "work/job_events/subscription_folder.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;
using job_events::StandingSubscription;
using job_events::SubscriptionFolder;

struct RuleAddOptions {
  std::string name;
  std::string pattern;
  std::string action;
  std::string jobs;
  bool json = false;
};

struct RuleListOptions {
  std::string jobs;
  bool names_only = false;
  bool json = false;
};

struct RuleOptions {
  std::string name;
  std::string jobs;
  bool json = false;
};

// The JSON itself, or that of a file.
Result<std::string> pattern_text(const std::string& given) {
  if (given.empty() || trim(given).starts_with('{')) return given;
  if (std::optional<std::string> content = read_text_file(given)) return *std::move(content);
  return Status(Code::kNotFound,
                fmt::format("--pattern {}: expected a pattern as JSON, {{\"subject\": [\"job\"]}}, or a "
                            "file with one; there is no such file",
                            printable(given)));
}

// In the folder of jobs, as who delivers does it.
Result<delivery::Subscription> try_subscribe(const StandingSubscription& standing, const fs::path& jobs) {
  std::error_code error;
  fs::create_directories(jobs, error);
  const fs::path here = fs::current_path(error);
  fs::current_path(jobs, error);
  if (error) return Status(Code::kNotFound, fmt::format("{}: {}", printable(jobs.string()), error.message()));
  Result<delivery::Subscription> made = job_events::subscribe_standing(
      standing, job_events::kinds_for_jobs(all_action_kinds(), jobs), SubscriptionFolder(jobs));
  fs::current_path(here, error);
  return made;
}

// The jobs that have not ended are heard from now on.
Status mark_jobs(const fs::path& jobs) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, jobs::JobRecord::list(jobs));
  for (const std::string& name : names) {
    const auto job = jobs::JobRecord::open(jobs, name);
    const auto now = job.ok() ? job->current() : job.status();
    if (!now.ok()) {
      emit(stderr, "trainwarden: warning: nothing of job {} is delivered: {}\n", name, now.status().message());
    } else if (!jobs::is_terminal(now->status)) {
      TRAINWARDEN_RETURN_IF_ERROR(job_events::EventFolder(jobs).markers().enter(name));
    }
  }
  return Status();
}

Result<StandingSubscription> add_rule(const RuleAddOptions& options) {
  const fs::path jobs = fs::absolute(jobs_folder(options.jobs));
  StandingSubscription standing{options.name, "", options.action, system_clock().unix_ns()};
  TRAINWARDEN_ASSIGN_OR_RETURN(standing.pattern, pattern_text(options.pattern));
  TRAINWARDEN_RETURN_IF_ERROR(try_subscribe(standing, jobs).status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const delivery::Wire wire, job_events::wire_of(standing));
  for (const std::string& sentence : rules_of_others(wire)) emit(stderr, "trainwarden: warning: {}\n", sentence);
  TRAINWARDEN_RETURN_IF_ERROR(SubscriptionFolder(jobs).add(standing));
  TRAINWARDEN_RETURN_IF_ERROR(mark_jobs(jobs));
  TRAINWARDEN_RETURN_IF_ERROR(ensure_job_deliverer(jobs));
  return standing;
}

OrderedJson json_of(const StandingSubscription& standing) {
  return {{"name", standing.name},
          {"pattern", standing.pattern},
          {"action", mask_secrets(standing.action)},
          {"created", format_rfc3339(standing.created_unix_ns, 3)}};
}

int act(const RuleAddOptions& options) {
  const auto added = add_rule(options);
  if (!added.ok()) return report_error(added.status());
  if (options.json) {
    print_json(json_of(*added));
  } else {
    emit("{} covers all jobs in {} from now on, and is notified of {}\n", added->name,
         jobs_folder(options.jobs).string(),
         added->pattern.empty() ? "alerts, unless its action has a pattern; --pattern chooses other events"
                                : "what its pattern matches");
  }
  return kExitFine;
}

// What the ledger says of one subscription.
struct Counts {
  std::size_t delivered = 0;
  std::size_t waiting = 0;
  std::size_t dead = 0;
};

using CountsByName = std::map<std::string, Counts>;

Result<CountsByName> count_deliveries(const fs::path& jobs) {
  CountsByName counts;
  const job_events::EventFolder folder(jobs);
  if (!folder.exists()) return counts;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto log, views::EventLog::open(folder.place()));
  for (const views::DeliveryStanding& standing : log->standings()) {
    Counts& of_one = counts[standing.last.subscription];
    if (standing.last.state == events::DeliveryState::kDelivered) ++of_one.delivered;
    if (standing.last.state == events::DeliveryState::kDead) ++of_one.dead;
    if (views::is_pending(standing.last.state)) ++of_one.waiting;
  }
  return counts;
}

OrderedJson listed_json(const std::string& name, const Result<StandingSubscription>& standing, const Counts& counts) {
  OrderedJson json =
      standing.ok() ? json_of(*standing) : OrderedJson{{"name", name}, {"unreadable", standing.status().message()}};
  json.update({{"delivered", counts.delivered}, {"waiting", counts.waiting}, {"dead", counts.dead}});
  return json;
}

std::string pattern_shown(const StandingSubscription& standing) {
  return standing.pattern.empty() ? "(of the action)" : standing.pattern;
}

int list_rule_names(const fs::path& jobs) {
  const auto names = SubscriptionFolder(jobs).names();
  if (!names.ok()) return report_error(names.status());
  for (const std::string& name : *names) emit("{}\n", name);
  return kExitFine;
}

int act(const RuleListOptions& options) {
  const fs::path jobs = jobs_folder(options.jobs);
  if (options.names_only) return list_rule_names(jobs);
  try_ensure_job_deliverer(jobs);
  const SubscriptionFolder folder(jobs);
  const auto names = folder.names();
  if (!names.ok()) return report_error(names.status());
  auto counts = count_deliveries(jobs);
  if (!counts.ok()) return report_error(counts.status());
  OrderedJson list = OrderedJson::array();
  Table table({{"NAME"},
               {"SINCE"},
               {"DELIVERED", Align::kRight},
               {"WAITING", Align::kRight},
               {"DEAD", Align::kRight},
               {"ACTION"},
               {"PATTERN"}});
  for (const std::string& name : *names) {
    const auto standing = folder.read(name);
    const Counts& of_one = (*counts)[name];
    list.push_back(listed_json(name, standing, of_one));
    table.add_row({name, standing.ok() ? local_time_text(standing->created_unix_ns) : "unreadable",
                   std::to_string(of_one.delivered), std::to_string(of_one.waiting), std::to_string(of_one.dead),
                   standing.ok() ? mask_secrets(standing->action) : standing.status().message(),
                   standing.ok() ? pattern_shown(*standing) : ""});
  }
  if (options.json) {
    print_json({{"subscriptions", list}});
  } else if (names->empty()) {
    emit("nobody subscribes to the jobs in {}: `{} events rule add` does\n", jobs.string(), typed_program());
  } else {
    emit("{}", Lines{table.to_string()});
  }
  return kExitFine;
}

int show_rule(const RuleOptions& options) {
  const auto standing = SubscriptionFolder(jobs_folder(options.jobs)).read(options.name);
  if (!standing.ok()) return report_error(standing.status());
  if (options.json) {
    print_json(json_of(*standing));
  } else {
    emit("{}\n  pattern  {}\n  action   {}\n  since    {}\n", standing->name, pattern_shown(*standing),
         mask_secrets(standing->action), local_time_text(standing->created_unix_ns));
  }
  return kExitFine;
}

int remove_rule(const RuleOptions& options) {
  const Status removed = SubscriptionFolder(jobs_folder(options.jobs)).remove(options.name);
  if (!removed.ok()) return report_error(removed);
  if (options.json) {
    print_json({{"removed", options.name}});
  } else {
    emit("removed {}\n", options.name);
  }
  return kExitFine;
}

void add_rule_choice_of_jobs(CLI::App& command, RuleOptions& options) {
  command.add_option("SUBSCRIPTION", options.name, "Its name")->required()->type_name("");
  add_jobs_option(command, options.jobs);
  add_json_flag(command, options.json);
}

void add_rule_add(CLI::App& rule, CommandAction& action) {
  auto options = std::make_shared<RuleAddOptions>();
  RuleAddOptions& o = *options;
  CLI::App& command =
      add_command(rule, "add", "Subscribe to what happens to all jobs, from now on", options, action, act);
  command.add_option("NAME", o.name, "A name for it: letters and digits with single hyphens")
      ->required()
      ->type_name("");
  command
      .add_option("--pattern", o.pattern,
                  "Which events, in EventBridge's language: JSON, or a file with it (default: what the action says, "
                  "alerts of any rule when it says nothing)")
      ->type_name("FILE|JSON");
  command.add_option("--action", o.action, "What is done: ACTION[:PARAMETER=VALUE,...], as --on-fire takes it")
      ->required()
      ->type_name("ACTION");
  add_jobs_option(command, o.jobs);
  add_json_flag(command, o.json);
  set_examples(command,
               {"trainwarden events rule add nan --action stop:rule=ExplodingTensor",
                R"(trainwarden events rule add ended --action exec:command=/opt/ended.py \)"
                "\n"
                R"(    --pattern '{"data": {"change": {"kind": ["job"]}, "TrainingJobStatus": ["Failed"]}}')"});
}

}  // namespace

void add_events_rule(CLI::App& events, CommandAction& action) {
  CLI::App& rule = add_subcommand(events, "rule", "Standing subscriptions to what happens to all jobs", [] {});
  rule.group("All jobs of a folder");
  rule.require_subcommand(1);
  add_rule_add(rule, action);
  auto list = std::make_shared<RuleListOptions>();
  CLI::App& ls = add_command(rule, "ls", "List them, and what became of their deliveries", list, action, act);
  add_jobs_option(ls, list->jobs);
  ls.add_flag("--names", list->names_only, "Names only, one a line");
  add_json_flag(ls, list->json);
  set_examples(ls, {"trainwarden events rule ls", "trainwarden events rule ls --json | jq '.subscriptions[].dead'"});
  auto shown = std::make_shared<RuleOptions>();
  CLI::App& show = add_command(rule, "show", "Show one of them", shown, action, show_rule);
  add_rule_choice_of_jobs(show, *shown);
  set_examples(show, {"trainwarden events rule show ended"});
  add_events_rule_test(rule, action);
  auto removed = std::make_shared<RuleOptions>();
  CLI::App& rm =
      add_command(rule, "rm", "Remove one; what is not delivered to it yet never is", removed, action, remove_rule);
  add_rule_choice_of_jobs(rm, *removed);
  set_examples(rm, {"trainwarden events rule rm ended"});
  set_examples(rule, {"trainwarden events rule add nan --action stop:rule=ExplodingTensor",
                      "trainwarden events rule ls", "trainwarden events rule test nan",
                      "trainwarden events --all-jobs --follow", "trainwarden events deliveries --all-jobs --dead"});
}

}  // namespace trainwarden::cli
