// `trainwarden show`: all that is known of one run, on a page.
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "data/format/step_end.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/run_diagnosis.h"
#include "react/events/description.h"
#include "read/trial/trial_access.h"
#include "store/journal/run_folder.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/bill_view.h"
#include "ui/cli/reports/black_box_view.h"
#include "ui/cli/reports/checkpoint_view.h"
#include "ui/cli/reports/diagnosis_view.h"
#include "ui/cli/reports/now_view.h"
#include "ui/cli/reports/output_view.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/diagnosis_json.h"
#include "ui/views/last_loss.h"

namespace trainwarden::cli {
namespace {

struct ShowOptions {
  RunChoice run;
  bool json = false;
};

// How many tensors a collection has; collections without any are not worth a line.
struct CollectionSize {
  std::string name;
  std::size_t tensors = 0;
};

std::vector<CollectionSize> collection_sizes(const Trial& trial) {
  std::vector<CollectionSize> sizes;
  for (const std::string& name : trial.collections()) {
    const auto members = trial.tensor_names({.include = {}, .collection = name, .mode = {}, .step = {}});
    if (members.ok() && !members->empty()) sizes.push_back({name, members->size()});
  }
  return sizes;
}

OrderedJson rules_as_json(const std::vector<rules::RuleHistory>& rules) {
  OrderedJson list = OrderedJson::array();
  for (const rules::RuleHistory& rule : rules) {
    OrderedJson json = cli::json_of(rule.status);
    json["journal"] = rule.journal;
    json["verdicts"] = OrderedJson::array();
    for (const auto& verdict : rule.verdicts) json["verdicts"].push_back(cli::json_of(verdict));
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson diagnosis_as_json(const diagnosis::Diagnosis& diagnosis) {
  return views::json_of(diagnosis, {})["diagnosis"];
}

void print_as_json(Trial& trial, const std::vector<rules::RuleHistory>& rules, const events::RunView& view) {
  OrderedJson modes = OrderedJson::object();
  for (const Mode mode : trial.modes()) {
    const auto steps = trial.steps(mode);
    modes[std::string(name(mode))] = {{"steps", steps.size()}, {"last", steps.empty() ? -1 : steps.back()}};
  }
  OrderedJson collections = OrderedJson::object();
  for (const CollectionSize& collection : collection_sizes(trial)) collections[collection.name] = collection.tensors;
  OrderedJson bills = OrderedJson::array();
  for (const views::WorkerBill& bill : views::read_bills(trial)) bills.push_back(cli::json_of(bill));
  OrderedJson losses = OrderedJson::array();
  for (const RunLoss& loss : trial.losses()) losses.push_back(cli::json_of(loss));
  OrderedJson black_boxes = OrderedJson::array();
  for (const views::BlackBoxDump& dump : views::read_black_boxes(TrialAccess::location(trial)))
    black_boxes.push_back(cli::json_of(dump));
  OrderedJson checkpoints = OrderedJson::array();
  for (const views::WorkerCheckpoint& checkpoint : views::read_checkpoints(trial)) {
    checkpoints.push_back(cli::json_of(checkpoint));
  }
  const auto output = TrialAccess::output_report(trial);
  print_json({{"name", run_name(trial.path())},
              {"path", trial.path().string()},
              {"recorder", trial.recorder()},
              {"id", trial.run_id()},
              {"state", name(trial.state())},
              {"status", name(primary_of(view.table.status()))},
              {"secondary_status", name(view.table.status())},
              {"diagnosis", diagnosis_as_json(rules::diagnose_run(trial))},
              {"created_unix_ns", trial.created_unix_ns()},
              {"last_unix_ns", trial.last_unix_ns()},
              {"labels", trial.labels()},
              {"framework", trial.framework()},
              {"world_size", trial.world_size()},
              {"workers", trial.workers()},
              {"last_complete_step", trial.last_complete_step()},
              {"last_trained_step", views::last_trained_step(trial, views::read_bills(trial))},
              {"modes", modes},
              {"collections", collections},
              {"bills", bills},
              {"losses", losses},
              {"black_boxes", black_boxes},
              {"checkpoints", checkpoints},
              {"output", output ? format::json_of(*output) : OrderedJson(nullptr)},
              {"rules", rules_as_json(rules)}});
}

// Nobody holds a lock in a folder of another recorder's: that its training goes on is a guess.
void print_recorder(const Trial& trial, std::int64_t now) {
  emit("recorded by {}", trial.recorder());
  if (trial.state() == RunState::kRunning) {
    emit("; there is no end marker, so it goes on or was killed: {}",
         trial.last_unix_ns() == 0 ? "it has no step with values yet"
                                   : fmt::format("its newest step came {}", age_text(trial.last_unix_ns(), now)));
  }
  emit("\n");
}

void print_head(Trial& trial, const events::RunView& view) {
  const std::int64_t now = system_clock().unix_ns();
  emit("{}  {}", run_name(trial.path()), status_text(trial.state(), view));
  if (trial.created_unix_ns() != 0) emit("  started {}", age_text(trial.created_unix_ns(), now));
  if (trial.last_unix_ns() != 0) emit(", last step {}", age_text(trial.last_unix_ns(), now));
  emit("\n");
  if (is_foreign(trial)) print_recorder(trial, now);
  if (!trial.framework().empty()) emit("trained with {}\n", trial.framework());
  for (const auto& [label, value] : trial.labels()) emit("  {} = {}\n", label, value);
  if (TrialAccess::run_info(trial).awaits_worker) {
    emit("workers: none; only its output was read, or its machine sampled\n");
  } else {
    emit("workers: {} of {}\n", fmt::join(trial.workers(), ", "), trial.world_size());
  }
  print_bills(stdout, views::read_bills(trial));
  const views::ProfileNow now_of_it = views::profile_now(trial);
  if (!now_of_it.usage.empty()) emit("machine, last: {}\n", machine_text(now_of_it));
  if (!now_of_it.phases.empty()) {
    emit("phases of the last steps: {} (all: report {})\n", phases_text(now_of_it), run_name(trial.path()));
  }
}

void print_contents(Trial& trial) {
  Table modes({{"MODE"}, {"STEPS", Align::kRight}, {"WHICH"}});
  for (const Mode mode : trial.modes()) {
    const auto steps = trial.steps(mode);
    modes.add_row({std::string(name(mode)), std::to_string(steps.size()), format_steps(steps)});
  }
  if (!modes.empty()) emit("\n{}", Lines{modes.to_string()});
  if (views::last_trained_step(trial, views::read_bills(trial)) > trial.last_complete_step()) {
    emit("{}: of the others nothing was to be kept\n", progress_text(trial));
  }
  Table collections({{"COLLECTION"}, {"TENSORS", Align::kRight}});
  for (const CollectionSize& collection : collection_sizes(trial)) {
    collections.add_row({collection.name, std::to_string(collection.tensors)});
  }
  if (!collections.empty()) emit("\n{}", Lines{collections.to_string()});
  if (const auto loss = views::last_loss(trial)) {
    emit("\nloss: {} is {} at step {}\n", loss->tensor, format_number(loss->value), loss->step);
  }
}

void print_rules(const std::vector<rules::RuleHistory>& rules) {
  if (rules.empty()) return;
  std::vector<rules::RuleStatusRecord> statuses;
  for (const rules::RuleHistory& rule : rules) statuses.push_back(rule.status);
  emit("\n");
  print_statuses(stdout, statuses);
}

void print_losses(const Trial& trial) {
  const auto losses = trial.losses();
  if (losses.empty()) return;
  Table table({{"LOST"}, {"COUNT", Align::kRight}, {"BYTES", Align::kRight}, {"WHERE"}});
  for (const RunLoss& loss : losses) {
    table.add_row({loss.cause, std::to_string(loss.count), format_bytes(loss.bytes), loss.where});
  }
  emit("\n{}", Lines{table.to_string()});
}

// What a user asked for and did not get is the first thing to know of a run.
void print_missing(const Trial& trial) {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint64_t> causes;
  for (const RunLoss& loss : trial.losses()) {
    if (!loss.by_writer || loss.cause == format::kThinnedCause) continue;
    count += loss.count;
    bytes += loss.bytes;
    causes[loss.cause] += loss.count;
  }
  if (count == 0) return;
  std::vector<std::string> parts;
  for (const auto& [cause, number] : causes) {
    parts.push_back(causes.size() == 1 ? cause : fmt::format("{} {}", number, cause));
  }
  const bool at_limit = causes.contains("run_bytes") || causes.contains("disk_reserve");
  const bool full = causes.contains("staging_full") || causes.contains("too_large");
  emit("NOT ALL IS HERE: {} of what was asked for did not arrive ({}, {}){}\n", count, format_bytes(bytes),
       fmt::join(parts, ", "),
       full       ? "; save less often, keep statistics, or raise staging_bytes"
       : at_limit ? "; save less often, keep statistics, raise --max-run-bytes, or make room on the disk"
                  : "");
}

void print_places(const Trial& trial, const std::vector<rules::RuleHistory>& rules) {
  if (is_foreign(trial)) {
    emit("\ntensors in {}\n", (trial.path() / "events").string());
    return;
  }
  const auto place = [&](const std::string& writer) {
    return (trial.path() / journal::journal_folder(writer)).string();
  };
  emit("\n");
  for (const std::string& worker : trial.workers()) emit("tensors in {}\n", place(worker));
  std::string last;
  for (const rules::RuleHistory& rule : rules) {
    if (rule.journal != last) emit("verdicts in {}\n", place(rule.journal));
    last = rule.journal;
  }
}

int act(const ShowOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto rules = rules::read_rule_histories(TrialAccess::location(**trial));
  if (!rules.ok()) return report_error(rules.status());
  const auto view = events::view_run(**trial);
  if (!view.ok()) return report_error(view.status());
  if (options.json) {
    print_as_json(**trial, *rules, *view);
    return kExitFine;
  }
  print_missing(**trial);
  print_head(**trial, *view);
  print_diagnosis_line(stdout, rules::diagnose_run(**trial), run_name((*trial)->path()));
  print_contents(**trial);
  print_printed_metrics(stdout, **trial);
  print_rules(*rules);
  print_losses(**trial);
  print_black_boxes(stdout, views::read_black_boxes(TrialAccess::location(**trial)));
  print_checkpoints(stdout, views::read_checkpoints(**trial));
  print_places(**trial, *rules);
  return kExitFine;
}

}  // namespace

void add_show(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ShowOptions>();
  ShowOptions& o = *options;
  CLI::App& command = add_command(app, "show", "Show all that is known of a run, on a page", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden show first", "trainwarden show /data/runs/first",
                         "trainwarden show first --json | jq '.rules[] | {id, status}'"});
}

}  // namespace trainwarden::cli
