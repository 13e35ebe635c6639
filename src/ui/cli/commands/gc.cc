// `trainwarden gc`: removes runs and thins out their old steps, by rules.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "read/retention/gc_plan.h"
#include "read/retention/run_removal.h"
#include "read/retention/run_thinning.h"
#include "read/trial/run_listing.h"
#include "store/storage/folder_edits.h"
#include "store/storage/location.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/options/gc_policy.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/needed_runs.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/cli/terminal/time_text.h"

namespace trainwarden::cli {
namespace {

using retention::GcPlan;
using retention::PlannedRun;
using Change = PlannedRun::Change;

struct GcOptions {
  std::string runs;
  std::string jobs;
  std::string experiments;
  GcChoice rules;
  bool dry_run = false;
  bool yes = false;
  bool json = false;
};

// What came of a planned change.
struct GcOutcome {
  Status status;
  std::uint64_t freed_bytes = 0;
  std::vector<std::string> left_out;  // segments that are damaged
};

class RunKeeper {
 public:
  RunKeeper(const storage::Location& runs, const std::filesystem::path& folder)
      : runs_(runs), folder_(folder), changes_(storage::open_local_edits(folder)) {}

  GcOutcome apply(const PlannedRun& planned) const;

 private:
  GcOutcome thin(const PlannedRun& planned) const;

  const storage::Location& runs_;
  const std::filesystem::path folder_;
  const std::unique_ptr<storage::FolderEdits> changes_;
};

GcOutcome RunKeeper::apply(const PlannedRun& planned) const {
  const std::string& name = planned.run.name;
  switch (planned.change) {
    case Change::kRemove: {
      Status status = retention::remove_run(runs_, *changes_, name, planned.run.info, system_clock());
      const bool removed = status.ok();
      return {std::move(status), removed ? planned.freed_bytes : 0, {}};
    }
    case Change::kFinish: {
      Status status = retention::finish_removal(runs_.storage(), *changes_, name);
      const bool removed = status.ok();
      return {std::move(status), removed ? planned.freed_bytes : 0, {}};
    }
    case Change::kThin: return thin(planned);
    case Change::kNone: break;
  }
  return {};
}

GcOutcome RunKeeper::thin(const PlannedRun& planned) const {
  const storage::Location run = runs_.beneath(planned.run.name);
  const auto changes = storage::open_local_edits(folder_ / planned.run.name);
  const auto thinned = retention::thin_run(run.storage(), *changes, planned.run.info, planned.thinning, system_clock());
  if (!thinned.ok()) return {thinned.status(), 0, {}};
  return {Status(), thinned->bytes_before - std::min(thinned->bytes_before, thinned->bytes_after), thinned->left_out};
}

Result<GcPlan> make_plan(const GcOptions& options, const storage::Location& runs, const std::filesystem::path& folder) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const retention::KeepRules rules, options.rules.read(folder));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, trial::list_runs(runs));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const retention::NeededRuns needed,
      find_needed_runs(folder, names, jobs_folder(options.jobs), experiments_folder(options.experiments)));
  return retention::plan_gc(runs, rules, needed, system_clock());
}

OrderedJson json_of(const PlannedRun& planned, const GcOutcome* outcome) {
  OrderedJson json = {{"name", planned.run.name},
                      {"id", planned.run.info.id},
                      {"change", retention::name(planned.change)},
                      {"reason", planned.reason},
                      {"bytes", planned.run.bytes},
                      {"freed_bytes", outcome != nullptr ? outcome->freed_bytes : planned.freed_bytes},
                      {"last_written_unix_ns", planned.run.changed_unix_ns}};
  if (planned.change == Change::kThin) {
    json["steps"] = planned.thinning.steps;
    json["whole_steps"] = planned.thinning.whole_steps;
    json["tensors"] = planned.thinning.tensors;
    json["left_out"] = planned.thinning.left_out;
  }
  if (outcome != nullptr) {
    json["done"] = planned.change != Change::kNone && outcome->status.ok();
    json["error"] = outcome->status.ok() ? OrderedJson() : OrderedJson(outcome->status.message());
  }
  return json;
}

void print_as_json(const GcPlan& plan, const std::filesystem::path& folder, const std::vector<GcOutcome>* outcomes) {
  OrderedJson runs = OrderedJson::array();
  std::uint64_t freed = outcomes == nullptr ? plan.freed_bytes : 0;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const GcOutcome* const outcome = outcomes == nullptr ? nullptr : &(*outcomes)[i];
    if (outcome != nullptr) freed += outcome->freed_bytes;
    runs.push_back(json_of(plan.runs[i], outcome));
  }
  print_json({{"folder", folder.string()},
              {"dry_run", outcomes == nullptr},
              {"bytes", plan.bytes},
              {"freed_bytes", freed},
              {"bytes_over", plan.bytes_over},
              {"runs", runs}});
}

std::string why(const PlannedRun& planned) {
  if (planned.change != Change::kThin) return planned.reason;
  const retention::ThinningPlan& thinning = planned.thinning;
  std::string text = fmt::format("{}: statistics in place of {} tensors in {} steps; {} steps stay whole",
                                 planned.reason, thinning.tensors, thinning.steps, thinning.whole_steps);
  if (!thinning.left_out.empty()) text += fmt::format("; left as they are: {}", fmt::join(thinning.left_out, ", "));
  return text;
}

void print_plan(const GcPlan& plan) {
  Table table({{"CHANGE"}, {"RUN"}, {"BYTES", Align::kRight}, {"FREES", Align::kRight}, {"LAST WRITTEN"}, {"WHY"}});
  for (const PlannedRun& planned : plan.runs) {
    if (planned.reason.empty()) continue;
    const bool stays = planned.change == Change::kNone;
    const char* const upper = planned.change == Change::kThin ? "<= " : "";
    table.add_row({stays ? "stays" : std::string(retention::name(planned.change)), planned.run.name,
                   format_bytes(planned.run.bytes), stays ? "" : upper + format_bytes(planned.freed_bytes),
                   local_time_text(planned.run.changed_unix_ns), why(planned)});
  }
  if (!table.empty()) emit("{}", Lines{table.to_string()});
}

std::size_t count_of(const GcPlan& plan, std::initializer_list<Change> changes) {
  return static_cast<std::size_t>(std::count_if(plan.runs.begin(), plan.runs.end(), [&](const PlannedRun& planned) {
    return std::find(changes.begin(), changes.end(), planned.change) != changes.end();
  }));
}

void print_over(const GcPlan& plan) {
  if (plan.bytes_over == 0) return;
  emit("{} more than --max-bytes stay: nothing else may be removed\n", format_bytes(plan.bytes_over));
}

// kFailedPrecondition when nobody can be asked, or the answer is no.
Status ask(const GcPlan& plan) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Status(Code::kInvalidArgument,
                  "nobody is here to be asked, so nothing was changed; --yes goes ahead without asking, --dry-run only "
                  "shows what would be done");
  }
  emit("Remove {} and thin out {} of {} runs? What is removed is gone for good. [y/N] ",
       count_of(plan, {Change::kRemove, Change::kFinish}), count_of(plan, {Change::kThin}), plan.runs.size());
  TRAINWARDEN_RETURN_IF_ERROR(flush_output());
  std::array<char, 16> answer{};
  const bool answered = std::fgets(answer.data(), answer.size(), stdin) != nullptr;
  const std::string word = answered ? lower(trim(answer.data())) : "";
  if (word == "y" || word == "yes") return Status();
  return Status(Code::kFailedPrecondition, "nothing was changed");
}

int carry_out(const GcPlan& plan, const storage::Location& runs, const std::filesystem::path& folder, bool json) {
  const RunKeeper keeper(runs, folder);
  std::vector<GcOutcome> outcomes;
  int code = plan.bytes_over > 0 ? kExitFailed : kExitFine;
  std::uint64_t freed = 0;
  for (const PlannedRun& planned : plan.runs) {
    outcomes.push_back(keeper.apply(planned));
    freed += outcomes.back().freed_bytes;
    for (const std::string& damaged : outcomes.back().left_out) {
      emit(stderr, "trainwarden: {}: left as it is: {}\n", planned.run.name, damaged);
    }
    if (!outcomes.back().status.ok()) code = report_error(outcomes.back().status.with_context(planned.run.name));
  }
  if (json) {
    print_as_json(plan, folder, &outcomes);
  } else {
    emit("freed {}\n", format_bytes(freed));
    print_over(plan);
  }
  return code;
}

int act(const GcOptions& options) {
  const std::filesystem::path typed = runs_folder(options.runs);
  const storage::Location runs(typed);
  const auto folder = runs.folder();
  if (!folder) {
    return report_error(Status(Code::kUnimplemented,
                               "gc changes folders of this machine only; in a bucket, use the rules that the bucket "
                               "itself has for the life of its objects"));
  }
  const auto plan = make_plan(options, runs, *folder);
  if (!plan.ok()) return report_error(plan.status());
  if (!options.json) print_plan(*plan);
  if (!options.json && !plan->changes_anything()) emit("nothing to remove and nothing to thin out\n");
  if (options.dry_run || !plan->changes_anything()) {
    if (options.json) print_as_json(*plan, *folder, nullptr);
    if (!options.json && options.dry_run) emit("would free at most {}\n", format_bytes(plan->freed_bytes));
    if (!options.json) print_over(*plan);
    return !options.dry_run && plan->bytes_over > 0 ? kExitFailed : kExitFine;
  }
  if (!options.yes) {
    const Status agreed = ask(*plan);
    if (!agreed.ok()) return report_error(agreed);
  }
  return carry_out(*plan, runs, *folder, options.json);
}

}  // namespace

void add_gc(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<GcOptions>();
  GcOptions& o = *options;
  CLI::App& command =
      add_command(app, "gc", "Remove old runs, or thin out their steps, by rules", options, action, act);
  command.group(kTransferGroup);
  add_runs_option(command, o.runs);
  add_gc_choice(command, o.rules);
  command.add_flag("--dry-run", o.dry_run, "Show what would be done, and do nothing");
  command.add_flag("--yes", o.yes, "Do not ask");
  add_json_flag(command, o.json);
  add_jobs_option(command, o.jobs);
  add_experiments_option(command, o.experiments);
  set_examples(command, {"trainwarden gc --older-than 30d --keep-last 5 --dry-run",
                         "trainwarden gc --max-bytes 200GB --thin-older-than 7d --every 10",
                         "trainwarden gc --yes   # by the rules in runs/gc.toml, for cron"});
}

}  // namespace trainwarden::cli
