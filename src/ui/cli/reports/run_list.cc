#include "ui/cli/reports/run_list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "react/events/run_status.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/views/run_row.h"

namespace trainwarden::cli {
namespace {

using catalogue::CataloguedRun;

// "completed", "failed"; a foreign run with its recorder.
std::string state_cell(const CataloguedRun& run) {
  constexpr std::array kStates = {RunState::kRunning, RunState::kCompleted, RunState::kStopped, RunState::kDied};
  const auto* const state =
      std::find_if(kStates.begin(), kStates.end(), [&](RunState one) { return name(one) == run.state; });
  const auto status = events::secondary_status(run.status);
  const std::string text = status && state != kStates.end() ? status_text(*state, *status) : run.state;
  return run.recorder == "trainwarden" ? text : fmt::format("{} ({})", text, run.recorder);
}

// "none fired", "2 of 3 fired", or nothing when no rule watched.
std::string verdicts_text(const CataloguedRun& run) {
  if (run.rules == 0) return "";
  return run.fired == 0 ? "none fired" : fmt::format("{} of {} fired", run.fired, run.rules);
}

std::vector<Column> run_columns(const std::vector<std::string>& more) {
  std::vector<Column> titles = {{"RUN"}, {"STATE"}, {"STARTED"}, {"STEPS", Align::kRight}, {"LOSS", Align::kRight}};
  for (const std::string& column : more) titles.push_back({printable(column), Align::kRight});
  titles.push_back({"RULES"});
  return titles;
}

}  // namespace

CataloguedRun read_listed_run(const storage::Location& location) {
  const views::RunRow row = views::read_run_row(location);
  CataloguedRun run;
  run.unreadable = row.unreadable;
  if (!row.unreadable.ok()) return run;
  run.over = row.state != RunState::kRunning && !row.judged_now && (!row.status || is_terminal(*row.status));
  run.created_unix_ns = row.created_unix_ns;
  run.state = name(row.state);
  if (row.status) run.status = name(*row.status);
  run.recorder = row.recorder;
  run.labels = format::dump_json(OrderedJson(row.labels));
  run.steps = static_cast<std::int64_t>(row.step_count);
  run.last_step = row.last_step;
  if (row.loss) run.loss = catalogue::CataloguedLoss{row.loss->tensor, row.loss->step, row.loss->value};
  run.rules = static_cast<std::int64_t>(row.rules);
  run.fired = static_cast<std::int64_t>(row.fired.size());
  return run;
}

std::vector<std::string> run_status_words() {
  std::vector<std::string> words = {std::string(name(events::PrimaryStatus::kInProgress))};  // the others are in these
  for (const events::SecondaryStatus status : events::kSecondaryStatuses) words.emplace_back(name(status));
  for (const RunState state : {RunState::kRunning, RunState::kDied}) words.emplace_back(name(state));
  words.emplace_back(kUnreadable);
  return words;
}

ListItem list_item_of(const CataloguedRun& run) {
  ListItem item;
  item.name = run.name;
  item.unix_ns = run.created_unix_ns;
  if (!run.unreadable.ok()) {
    item.statuses = {kUnreadable};
    return item;
  }
  if (const auto status = events::secondary_status(run.status)) {
    item.statuses = {run.status, std::string(name(primary_of(*status)))};
  }
  item.statuses.push_back(run.state);
  item.values = catalogue::list_values(run.labels);
  for (auto& [key, value] : item.values) {
    if (const auto number = parse_double(std::get<std::string>(value))) value = *number;
  }
  item.facts = {{"steps", static_cast<double>(run.steps)},
                {"last_step", static_cast<double>(run.last_step)},
                {"rules", static_cast<double>(run.rules)},
                {"fired", static_cast<double>(run.fired)}};
  if (run.loss) item.facts["loss"] = run.loss->value;
  return item;
}

RunListTable::RunListTable(std::vector<std::string> columns)
    : columns_(std::move(columns)), table_(run_columns(columns_)), now_unix_ns_(system_clock().unix_ns()) {}

void RunListTable::add(const CataloguedRun& run, const ListItem& item) {
  const bool readable = run.unreadable.ok();
  std::vector<std::string> cells = {run.name, readable ? state_cell(run) : kUnreadable,
                                    run.created_unix_ns == 0 ? "" : age_text(run.created_unix_ns, now_unix_ns_),
                                    readable ? std::to_string(run.steps) : "",
                                    run.loss ? format_number(run.loss->value) : ""};
  for (const std::string& column : columns_) cells.push_back(cell_text(item, column));
  cells.push_back(readable ? verdicts_text(run) : run.unreadable.message());
  table_.add_row(std::move(cells));
}

OrderedJson row_json(const CataloguedRun& run, const storage::Location& folder) {
  OrderedJson json = {{"name", run.name}, {"path", (folder.path() / run.name).string()}};
  if (!run.unreadable.ok()) {
    json["error"] = run.unreadable.message();
    return json;
  }
  json["recorder"] = run.recorder;
  json["state"] = run.state;
  if (const auto status = events::secondary_status(run.status)) {
    json["status"] = name(primary_of(*status));
    json["secondary_status"] = run.status;
  }
  json["created_unix_ns"] = run.created_unix_ns;
  json["steps"] = run.steps;
  json["last_step"] = run.last_step;
  json["last_loss"] = nullptr;
  if (run.loss) {
    json["last_loss"] = {
        {"tensor", run.loss->tensor}, {"step", run.loss->step}, {"value", json_number(run.loss->value)}};
  }
  json["rules"] = run.rules;
  json["rules_fired"] = run.fired;
  json["labels"] = catalogue::json_of(catalogue::list_values(run.labels));
  return json;
}

}  // namespace trainwarden::cli
