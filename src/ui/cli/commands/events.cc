// `trainwarden events`: what has changed in a run, and who was notified.
#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/events_command.h"
#include "ui/cli/commands/events_follow.h"
#include "ui/cli/commands/events_of_job.h"
#include "ui/cli/commands/events_rule.h"
#include "ui/cli/commands/events_test_pattern.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/event_filter.h"
#include "ui/cli/options/event_scope.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/event_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {
namespace {

struct EventsOptions {
  EventScope place;
  std::string job;
  EventChoice choice;
  bool follow = false;
  bool raw = false;
  bool json = false;
};

int follow(const EventsOptions& options, const std::filesystem::path& run, const EventFilter& filter) {
  const Status status = follow_events(
      run, options.place.all_jobs, filter, [&options](const events::Event& event, const views::EventLog& log) {
        if (options.raw) {
          print_json_text(options.choice.document(event));
        } else if (options.json) {
          const auto of_events = by_event(log.standings());
          const auto found = of_events.find(event.seq);
          print_json_line(
              json_of(event, found == of_events.end() ? std::vector<views::DeliveryStanding>() : found->second));
        } else {
          emit("{}\n", event_line(event));
        }
      });
  return status.ok() ? kExitFine : report_error(status);
}

void print_as_json(OrderedJson document, const views::EventLog& log, const std::vector<events::Event>& events) {
  OrderedJson list = OrderedJson::array();
  const auto of_events = by_event(log.standings());
  for (const events::Event& event : events) {
    const auto found = of_events.find(event.seq);
    list.push_back(json_of(event, found == of_events.end() ? std::vector<views::DeliveryStanding>() : found->second));
  }
  document.update({{"kept", log.kept()},
                   {"last_seq", log.contents().events.size()},
                   {"unreadable", log.contents().unreadable},
                   {"lost", log.contents().lost_events},
                   {"events", list}});
  print_json(document);
}

// Why there is nothing to see.
void print_none(const EventsOptions& options, const std::filesystem::path& run, const views::EventLog& log) {
  const std::size_t all = log.contents().events.size();
  if (all > 0) {
    emit("none of the {} events of {} is meant\n", all, options.place.all_jobs ? "all jobs" : run_name(run));
  } else if (options.place.all_jobs) {
    emit("no events of the jobs in {} since somebody has subscribed\n", run.parent_path().string());
  } else {
    emit(
        "no events in {0} yet: they are recorded by who watches it; `{1} events deliver {2}` records what has "
        "happened so far\n",
        run_name(run), typed_program(), options.place.typed());
  }
}

int exit_code_of_ledger(const EventsOptions& options, const events::LedgerContents& contents) {
  if (contents.unreadable == 0 && contents.lost_events == 0) return kExitFine;
  return report_error(Status(
      Code::kDataLoss,
      fmt::format("{} entries of the ledger are damaged, {} events are lost; `{} doctor {}` says "
                  "where",
                  contents.unreadable, contents.lost_events, typed_program(), printable(options.place.typed()))));
}

int print_events(const EventsOptions& options, const std::filesystem::path& run, const EventFilter& filter) {
  const auto log = views::EventLog::open(run);
  if (!log.ok()) return report_error(log.status());
  std::vector<events::Event> events;
  for (const events::Event& event : (*log)->contents().events) {
    const auto taken = filter.takes(event);
    if (!taken.ok()) return report_error(taken.status());
    if (*taken) events.push_back(event);
  }
  if (options.raw) {
    for (const events::Event& event : events) print_json_text(options.choice.document(event));
  } else if (options.json) {
    print_as_json(options.place.head(run), **log, events);
  } else if (events.empty()) {
    print_none(options, run, **log);
  } else {
    emit("{}", Lines{event_table(events, by_event((*log)->standings()), (*log)->kept())});
  }
  return exit_code_of_ledger(options, (*log)->contents());
}

int act(const EventsOptions& options) {
  const auto filter = EventFilter::make(options.choice);
  if (!filter.ok()) return report_error(filter.status());
  const EventForm form{options.choice, options.follow, options.raw, options.json};
  if (!options.job.empty()) return show_events_of_job({options.job, options.place.jobs}, *filter, form);
  const auto run = options.place.locate();
  if (!run.ok()) return report_error(run.status());
  return options.follow ? follow(options, *run, *filter) : print_events(options, *run, *filter);
}

// Options of the list mean nothing to a sub-command.
void refuse_options_of_list(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string chosen = command.get_subcommands().front()->get_name();
    throw CLI::ValidationError(
        fmt::format("what belongs to `events {0}` comes behind it: `events {0} RUN ...`; a run "
                    "that is called like a sub-command is named by its path, ./{0}",
                    chosen));
  }
}

void choose(CLI::App& command, CommandAction& action, const std::shared_ptr<EventsOptions>& options) {
  if (!command.get_subcommands().empty()) return refuse_options_of_list(command);
  const EventScope& place = options->place;
  const int named = (place.run.empty() ? 0 : 1) + (place.all_jobs ? 1 : 0) + (options->job.empty() ? 0 : 1);
  if (named == 0) throw CLI::RequiredError("RUN, --job or --all-jobs");
  if (named > 1) throw CLI::ValidationError("expected one of RUN, --job and --all-jobs, found several");
  action = [options] { return act(*options); };
}

}  // namespace

void add_events(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<EventsOptions>();
  EventsOptions& o = *options;
  CLI::App& command =
      add_subcommand(app, "events", "List or follow what changed in a run, and who was notified", [] {});
  command.callback([&command, &action, options] { choose(command, action, options); });
  command.group(kJudgeGroup);
  command.require_subcommand(0, 1);
  add_event_scope(command, o.place);
  command.add_option("--job", o.job, "Instead of a run: what became of this job, from its submission on")
      ->type_name("JOB");
  add_event_choice(command, o.choice);
  command.add_flag("--follow", o.follow, "Go on with events as they come, until the run has ended");
  auto* raw = command.add_flag("--raw", o.raw, "The events themselves, one JSON document a line");
  command
      .add_flag("--json", o.json,
                "Print one JSON document, with --follow one a line (docs/reference/cli.md has its keys)")
      ->excludes(raw);
  add_events_deliveries(command, action);
  add_events_deliver(command, action);
  add_events_redrive(command, action);
  add_events_drop(command, action);
  for (CLI::App* own : command.get_subcommands([](const CLI::App*) { return true; })) own->group("What became of them");
  add_events_test_pattern(command, action);
  add_events_rule(command, action);
  set_examples(command, {"trainwarden events first", "trainwarden events first --follow --json",
                         R"(trainwarden events first --pattern '{"type": [{"suffix": ".alert.v1"}]}')",
                         "trainwarden events --job bert-7", "trainwarden events --all-jobs --follow",
                         "trainwarden events rule add nan --action stop:rule=ExplodingTensor",
                         "trainwarden events deliveries first --dead", "trainwarden events redrive first"});
}

}  // namespace trainwarden::cli
