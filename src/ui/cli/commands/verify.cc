// `trainwarden verify`: are runs whole? One line each, for scripts; `doctor` explains.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/step_end.h"
#include "read/upkeep/checkup.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"

namespace trainwarden::cli {
namespace {

struct VerifyOptions {
  RunsChoice runs;
  int jobs = 0;
  bool json = false;
};

struct VerifiedRun {
  std::string name;
  Status status;  // why it could not be checked
  upkeep::Checkup checkup;

  bool whole() const { return status.ok() && checkup.whole(); }
};

struct VerifiedTotals {
  std::size_t segments = 0;
  std::size_t unsealed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t damaged = 0;     // places
  std::uint64_t never_kept = 0;  // by the writer
  const RunLoss* first = nullptr;
};

VerifiedTotals totals_of(const upkeep::Checkup& checkup) {
  VerifiedTotals totals;
  const auto add = [&](const RunLoss& loss) {
    if (loss.by_writer && loss.cause == format::kThinnedCause) return;  // somebody wanted the room
    if (loss.by_writer) {
      totals.never_kept += loss.count;
      return;
    }
    ++totals.damaged;
    if (totals.first == nullptr) totals.first = &loss;
  };
  for (const upkeep::JournalCheckup& journal : checkup.journals) {
    totals.segments += journal.segments;
    totals.unsealed += journal.segments - journal.sealed;
    totals.bytes += journal.bytes;
    std::for_each(journal.losses.begin(), journal.losses.end(), add);
  }
  std::for_each(checkup.losses.begin(), checkup.losses.end(), add);
  return totals;
}

std::string verified_line(const VerifiedRun& run) {
  if (!run.status.ok()) return fmt::format("{}  NOT CHECKED  {}", run.name, run.status.to_string());
  const VerifiedTotals totals = totals_of(run.checkup);
  if (totals.damaged > 0) {
    return fmt::format("{}  DAMAGED  at {} place{}, the first: {}, {}", run.name, totals.damaged,
                       totals.damaged == 1 ? "" : "s", totals.first->cause, totals.first->where);
  }
  std::string line = fmt::format("{}  ok", run.name);
  if (totals.segments > 0) {
    line += fmt::format("  {} in {} segment{}", format_bytes(totals.bytes), totals.segments,
                        totals.segments == 1 ? "" : "s");
  }
  if (totals.segments > 0 && totals.unsealed > 0) line += fmt::format(", {} not sealed", totals.unsealed);
  if (totals.never_kept > 0) line += fmt::format("; {} never kept by the writer", totals.never_kept);
  return line;
}

OrderedJson json_of_verified(const VerifiedRun& run) {
  if (!run.status.ok()) return {{"run", run.name}, {"whole", false}, {"error", run.status.to_string()}};
  const VerifiedTotals totals = totals_of(run.checkup);
  OrderedJson losses = OrderedJson::array();
  const auto add = [&](const RunLoss& loss) {
    if (!loss.by_writer) losses.push_back(cli::json_of(loss));
  };
  for (const upkeep::JournalCheckup& journal : run.checkup.journals)
    std::for_each(journal.losses.begin(), journal.losses.end(), add);
  std::for_each(run.checkup.losses.begin(), run.checkup.losses.end(), add);
  return {{"run", run.name},       {"id", run.checkup.info.id},       {"recorder", run.checkup.recorder},
          {"whole", run.whole()},  {"segments", totals.segments},     {"unsealed", totals.unsealed},
          {"bytes", totals.bytes}, {"never_kept", totals.never_kept}, {"losses", losses}};
}

VerifiedRun verify_run(const std::filesystem::path& path, const VerifyOptions& options, StatusLine& line) {
  VerifiedRun run;
  run.name = run_name(path);
  upkeep::CheckupPlan plan;
  plan.threads = options.jobs;
  if (line.interactive()) {
    plan.progress = [&](std::uint64_t done, std::uint64_t all) {
      line.show(fmt::format("{}: {} of {} checked", run.name, format_bytes(done), format_bytes(all)));
    };
  }
  auto checkup = upkeep::examine(storage::Location(path), plan);
  line.clear();
  run.status = checkup.status();
  if (checkup.ok()) run.checkup = *std::move(checkup);
  return run;
}

// Damage counts more than what could not be checked: who asks wants to hear of it first.
int act_verify(const VerifyOptions& options) {
  const auto paths = options.runs.locate();
  if (!paths.ok()) return report_error(paths.status());
  StatusLine line(stderr, terminal_of(stderr));
  OrderedJson list = OrderedJson::array();
  int exit_code = kExitFine;
  for (const std::filesystem::path& path : *paths) {
    const VerifiedRun run = verify_run(path, options, line);
    const int code = run.status.ok() ? (run.whole() ? kExitFine : kExitDataLost) : exit_code_of(run.status);
    if (code == kExitDataLost || exit_code == kExitFine) exit_code = code;
    if (options.json) {
      list.push_back(json_of_verified(run));
    } else {
      emit("{}\n", verified_line(run));
    }
  }
  if (options.json) print_json({{"whole", exit_code == kExitFine}, {"runs", list}});
  return exit_code;
}

}  // namespace

void add_verify(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<VerifyOptions>();
  VerifyOptions& o = *options;
  CLI::App& command =
      add_command(app, "verify", "Check every checksum of runs, a line each", options, action, act_verify);
  command.group(kUpkeepGroup);
  add_runs_choice(command, o.runs);
  command.add_option("--jobs", o.jobs, "How many files are read at once (default: one for each CPU)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_json_flag(command, o.json);
  set_examples(command,
               {"trainwarden verify", "trainwarden verify first second", "trainwarden verify --runs /archive/runs",
                "trainwarden verify --json | jq -r '.runs[] | select(.whole | not) | .run'"});
}

}  // namespace trainwarden::cli
