// `trainwarden ls`: the runs there are.
#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/list_choice.h"
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
  ListChoice choice;
  bool names_only = false;
  bool json = false;
};

std::vector<views::RunRow> read_runs(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  std::vector<views::RunRow> rows;
  for (const std::string& name : names) rows.push_back(views::read_run_row(folder / name));
  return rows;
}

// Its labels, as numbers where they are some, its newest loss and its number of steps.
ListItem list_item_of(const views::RunRow& row) {
  ListItem item;
  item.name = row.name;
  item.unix_ns = row.created_unix_ns;
  if (!row.unreadable.ok()) {
    item.statuses = {"unreadable"};
    return item;
  }
  if (row.status) item.statuses = {std::string(name(*row.status)), std::string(name(primary_of(*row.status)))};
  item.statuses.emplace_back(name(row.state));
  item.values["steps"] = static_cast<double>(row.step_count);
  if (row.loss) item.values["loss"] = row.loss->value;
  for (const auto& [key, text] : row.labels) {
    const auto number = parse_double(text);
    item.values[key] = number ? ListValue(*number) : ListValue(text);
  }
  return item;
}

// "ok", "2 of 3 fired", or nothing when no rule watched.
std::string verdicts_text(const views::RunRow& row) {
  if (row.rules == 0) return "";
  return row.fired.empty() ? "none fired" : fmt::format("{} of {} fired", row.fired.size(), row.rules);
}

void print_as_table(const std::vector<views::RunRow>& rows, const std::vector<ListItem>& items,
                    const std::vector<std::size_t>& places, const std::vector<std::string>& columns) {
  std::vector<Column> titles = {{"RUN"}, {"STATE"}, {"STARTED"}, {"STEPS", Align::kRight}, {"LOSS", Align::kRight}};
  for (const std::string& column : columns) titles.push_back({printable(column), Align::kRight});
  titles.push_back({"RULES"});
  Table table(titles);
  const std::int64_t now = system_clock().unix_ns();
  for (const std::size_t place : places) {
    const views::RunRow& row = rows[place];
    const bool readable = row.unreadable.ok();
    const std::string mark = row.foreign() ? fmt::format(" ({})", row.recorder) : "";
    const std::string state = row.status ? status_text(row.state, *row.status) : std::string(name(row.state));
    std::vector<std::string> cells = {row.name, readable ? state + mark : "unreadable",
                                      row.created_unix_ns == 0 ? "" : age_text(row.created_unix_ns, now),
                                      readable ? std::to_string(row.step_count) : "",
                                      row.loss ? format_number(row.loss->value) : ""};
    for (const std::string& column : columns) cells.push_back(cell_text(items[place], column));
    cells.push_back(readable ? verdicts_text(row) : row.unreadable.message());
    table.add_row(std::move(cells));
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
  json["labels"] = row.labels;
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
  std::vector<ListItem> items;
  for (const views::RunRow& row : rows) items.push_back(list_item_of(row));
  const auto places = choose(items, options.choice, system_clock().unix_ns());
  if (!places.ok()) return report_error(places.status());
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const std::size_t place : *places) list.push_back(json_of(rows[place]));
    print_json({{"folder", folder.string()}, {"runs", list}});
  } else if (rows.empty()) {
    emit("no runs in {} yet; start one with `trainwarden run -- PROGRAM`\n", folder.string());
  } else {
    print_as_table(rows, items, *places, options.choice.columns);
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
  add_list_options(command, o.choice);
  command.add_flag("--names", o.names_only, "Names only, one a line");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden ls", "trainwarden ls --runs /data/runs",
                         "trainwarden ls --since 2d --columns lr --sort loss",
                         "trainwarden ls --json | jq -r '.runs[] | select(.rules_fired > 0) | .name'"});
}

}  // namespace trainwarden::cli
