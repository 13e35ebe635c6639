// `trainwarden merge`: runs that are parts of one training, as one run.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/upkeep/merge.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"

namespace trainwarden::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> names;  // RUN... TO
  std::string runs;
  std::string kind;
  std::string prefer;
  bool json = false;
};

Result<upkeep::MergePlan> merge_plan(const MergeOptions& options) {
  if (options.names.size() < 3) {
    return Status(Code::kInvalidArgument,
                  "expected two runs or more and, the last, the name of the new one: RUN RUN TO");
  }
  const std::filesystem::path folder = runs_folder(options.runs);
  upkeep::MergePlan plan;
  plan.to = new_run_path(options.names.back(), options.runs);
  std::vector<std::filesystem::path> paths;
  for (std::size_t i = 0; i + 1 < options.names.size(); ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::filesystem::path path, locate_run(options.names[i], folder));
    plan.runs.emplace_back(path);
    paths.push_back(std::move(path));
  }
  if (options.kind == "workers") plan.kind = upkeep::MergeKind::kWorkers;
  if (options.kind == "attempts") plan.kind = upkeep::MergeKind::kAttempts;
  if (options.prefer.empty()) return plan;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::filesystem::path preferred, locate_run(options.prefer, folder));
  const auto found = std::find(paths.begin(), paths.end(), preferred);
  if (found == paths.end()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("--prefer names one of the runs that are merged, and {} is none of them", options.prefer));
  }
  plan.preferred = static_cast<std::size_t>(found - paths.begin());
  return plan;
}

void print_merged_as_json(const upkeep::MergePlan& plan, const upkeep::MergeReport& report) {
  OrderedJson runs = OrderedJson::array();
  for (const upkeep::MergedRun& run : report.runs) {
    runs.push_back({{"run", run.address},
                    {"id", run.id},
                    {"first_step", run.first_step},
                    {"journals", run.journals},
                    {"replaced_from", run.replaced_from ? OrderedJson(*run.replaced_from) : OrderedJson()},
                    {"replaced_frames", run.replaced_frames}});
  }
  OrderedJson journals = OrderedJson::array();
  for (const upkeep::RecoveredJournal& journal : report.journals) {
    journals.push_back({{"journal", journal.name},
                        {"segments", journal.tally.segments},
                        {"steps", journal.tally.steps},
                        {"records", journal.tally.records},
                        {"bytes", journal.tally.bytes}});
  }
  print_json({{"run", run_name(plan.to)},
              {"path", plan.to.string()},
              {"id", report.info.id},
              {"as", upkeep::name(report.kind)},
              {"workers", report.info.world_size},
              {"runs", runs},
              {"journals", journals},
              {"left_behind", report.left_behind},
              {"lost", json_of_copy_notes(report.lost)},
              {"mended", json_of_copy_notes(report.mended)}});
}

void print_merged(const upkeep::MergePlan& plan, const upkeep::MergeReport& report) {
  emit("{}  {} {}, {} worker{}, with the id {}\n", plan.to.string(), report.runs.size(), upkeep::name(report.kind),
       report.info.world_size, report.info.world_size == 1 ? "" : "s", report.info.id);
  for (const upkeep::MergedRun& run : report.runs) {
    std::string renamed;
    for (const auto& [before, now] : run.journals) {
      if (before != now) renamed += fmt::format("{}{} is {}", renamed.empty() ? "; " : ", ", before, now);
    }
    const std::string replaced =
        run.replaced_from ? fmt::format("; replaced from step {} on", *run.replaced_from) : std::string();
    const std::string steps = run.first_step < 0 ? "no steps" : fmt::format("from step {}", run.first_step);
    emit("  {}: {}{}{}\n", run.address, steps, replaced, renamed);
  }
  for (const std::string& left : report.left_behind) emit("  not in it: {}\n", left);
  if (report.lost.empty()) return;
  emit("\nlost of what is damaged:\n");
  print_copy_notes(report.lost);
}

int act_merge(const MergeOptions& options) {
  auto plan = merge_plan(options);
  if (!plan.ok()) return report_error(plan.status());
  StatusLine line(stderr, terminal_of(stderr));
  if (line.interactive()) plan->progress = [&](const std::string& path) { line.show(fmt::format("copying {}", path)); };
  const auto report = upkeep::merge_runs(*plan);
  line.clear();
  if (!report.ok()) return report_error(report.status());
  if (options.json) {
    print_merged_as_json(*plan, *report);
  } else {
    print_merged(*plan, *report);
  }
  return report->lost.empty() ? kExitFine : kExitDataLost;
}

}  // namespace

void add_merge(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<MergeOptions>();
  MergeOptions& o = *options;
  CLI::App& command = add_command(app, "merge", "Make one run of runs that are workers or attempts of one training",
                                  options, action, act_merge);
  command.group(kUpkeepGroup);
  add_words(command, "RUN", o.names, "The runs, and last the new one: a name in the folder of runs, or a path")
      ->required()
      ->type_name("");
  command
      .add_option("--as", o.kind,
                  "workers, that trained side by side, or attempts, of which a later one goes on from an earlier one "
                  "(default: workers, when no two runs have the same rank)")
      ->type_name("KIND")
      ->check(CLI::IsMember({"workers", "attempts"}));
  command.add_option("--prefer", o.prefer, "The run whose labels, command and code version count where they differ")
      ->type_name("RUN");
  add_runs_option(command, o.runs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden merge node0 node1 both", "trainwarden merge --as workers worker-a worker-b both",
                         "trainwarden merge --as attempts monday tuesday wednesday week --prefer wednesday"});
}

}  // namespace trainwarden::cli
