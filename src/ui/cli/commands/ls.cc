// `trainwarden ls`: the runs there are.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/run_row.h"

namespace trainwarden::cli {
namespace {

struct LsOptions {
  std::string runs;
  bool names_only = false;
  bool json = false;
};

// The newest first; runs that cannot be read come last.
std::vector<views::RunRow> read_runs(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  std::vector<views::RunRow> rows;
  for (const std::string& name : names) rows.push_back(views::read_run_row(folder / name));
  std::stable_sort(rows.begin(), rows.end(), [](const views::RunRow& a, const views::RunRow& b) {
    return a.created_unix_ns > b.created_unix_ns;
  });
  return rows;
}

// "ok", "2 of 3 fired", or nothing when no rule watched.
std::string verdicts_text(const views::RunRow& row) {
  if (row.rules == 0) return "";
  return row.fired.empty() ? "none fired" : fmt::format("{} of {} fired", row.fired.size(), row.rules);
}

void print_as_table(const std::vector<views::RunRow>& rows) {
  Table table({{"RUN"}, {"STATE"}, {"STARTED"}, {"STEPS", Align::kRight}, {"LOSS", Align::kRight}, {"RULES"}});
  const std::int64_t now = system_clock().unix_ns();
  for (const views::RunRow& row : rows) {
    if (!row.unreadable.ok()) {
      table.add_row({row.name, "unreadable", "", "", "", row.unreadable.message()});
      continue;
    }
    const std::string mark = row.foreign() ? fmt::format(" ({})", row.recorder) : "";
    table.add_row(
        {row.name,
         fmt::format("{}{}", row.status ? status_text(row.state, *row.status) : std::string(name(row.state)), mark),
         row.created_unix_ns == 0 ? "" : age_text(row.created_unix_ns, now), std::to_string(row.step_count),
         row.loss ? format_number(row.loss->value) : "", verdicts_text(row)});
  }
  emit("{}", Lines{table.to_string()});
}

OrderedJson json_of(const views::RunRow& row) {
  OrderedJson json = {{"name", row.name}, {"path", row.path.string()}};
  if (!row.unreadable.ok()) {
    json["error"] = row.unreadable.message();
    return json;
  }
  json["recorder"] = row.recorder;
  json["state"] = name(row.state);
  if (row.status) {
    json["status"] = name(primary_of(*row.status));
    json["secondary_status"] = name(*row.status);
  }
  json["created_unix_ns"] = row.created_unix_ns;
  json["steps"] = row.step_count;
  json["last_step"] = row.last_step;
  json["last_loss"] = nullptr;
  if (row.loss) {
    json["last_loss"] = {
        {"tensor", row.loss->tensor}, {"step", row.loss->step}, {"value", json_number(row.loss->value)}};
  }
  json["rules"] = row.rules;
  json["rules_fired"] = row.fired.size();
  return json;
}

int act(const LsOptions& options) {
  const std::filesystem::path folder = runs_folder(options.runs);
  const auto names = trial::list_runs(folder);
  if (!names.ok()) return report_error(names.status());
  if (options.names_only) {
    for (const std::string& name : *names) emit("{}\n", name);
    return kExitFine;
  }
  const std::vector<views::RunRow> rows = read_runs(folder, *names);
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const views::RunRow& row : rows) list.push_back(json_of(row));
    print_json({{"folder", folder.string()}, {"runs", list}});
  } else if (rows.empty()) {
    emit("no runs in {} yet; start one with `trainwarden run -- PROGRAM`\n", folder.string());
  } else {
    print_as_table(rows);
  }
  return kExitFine;
}

}  // namespace

void add_ls(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<LsOptions>();
  LsOptions& o = *options;
  CLI::App& command = add_command(app, "ls", "List the runs, the newest first", options, action, act);
  command.group(kLookGroup);
  add_runs_option(command, o.runs);
  command.add_flag("--names", o.names_only, "Names only, one a line");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden ls", "trainwarden ls --runs /data/runs",
                         "trainwarden ls --json | jq -r '.runs[] | select(.rules_fired > 0) | .name'"});
}

}  // namespace trainwarden::cli
