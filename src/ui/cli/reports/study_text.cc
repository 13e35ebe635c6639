#include "ui/cli/reports/study_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tune/study/study_warnings.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/study_importance.h"
#include "ui/views/study_view.h"

namespace trainwarden::cli {
namespace {

using tune::Strategy;
using tune::StudyTrial;
using tune::TrialState;

std::string seconds_text(double seconds) {
  return seconds > 0 ? format_duration_ns(static_cast<std::int64_t>(seconds * 1e9)) : "";
}

// For people: six digits do. Exact values are in JSON, in CSV and in `study best`.
std::string short_text(const tune::TriedValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? format_number(*number) : tune::text_of(value);
}

std::string number_cell(double value) {
  return std::isnan(value) ? "" : format_number(value);
}

// Complete trials that keep to the constraints by their first objective, then the others by their number.
std::vector<std::size_t> best_first(const tune::Study& study) {
  const tune::History& history = study.state().history();
  const std::size_t objective = history.objectives().front();
  const auto cost = [&](std::size_t i) { return history.metrics[objective].cost(history.trials[i].values[objective]); };
  const auto rank = [&](std::size_t i) {
    if (tune::is_feasible(history, history.trials[i])) return 0;
    return history.trials[i].state == TrialState::kComplete ? 1 : 2;
  };
  std::vector<std::size_t> order(history.trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return rank(a) == 0 && cost(a) < cost(b);
  });
  return order;
}

Table trials_table(const tune::Study& study, const std::vector<std::size_t>& trials) {
  const tune::History& history = study.state().history();
  std::vector<Column> columns = {{"TRIAL", Align::kRight}, {"STATE"}};
  for (const tune::StudyMetric& metric : history.metrics) columns.push_back({metric.name, Align::kRight});
  columns.push_back({"TOOK", Align::kRight});
  for (const tune::Hyperparameter& parameter : history.space.parameters()) columns.push_back({parameter.name});
  columns.push_back({"WHY"});
  Table table(columns);
  for (const std::size_t i : trials) {
    const StudyTrial& trial = history.trials[i];
    std::vector<std::string> row = {std::to_string(trial.number), std::string(tune::name(trial.state))};
    for (const double value : trial.values) row.push_back(number_cell(value));
    row.push_back(seconds_text(study.state().record(i).seconds));
    const tune::TriedValues values = history.space.values_of(trial.point);
    for (const tune::Hyperparameter& parameter : history.space.parameters()) {
      const auto found = values.find(parameter.name);
      row.push_back(found == values.end() ? "" : short_text(found->second));
    }
    row.push_back(study.state().record(i).why);
    table.add_row(std::move(row));
  }
  return table;
}

std::map<std::string, std::size_t> origins_of(const tune::Study& study) {
  std::map<std::string, std::size_t> origins;
  for (const tune::InheritedTrial& each : study.state().inherited()) ++origins[each.study];
  return origins;
}

std::string csv_cell(const std::string& text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos &&
                          !parse_double(text).has_value();
  std::string cell = is_formula ? "'" + text : text;
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + csv_cell(cells[i]);
  return line + "\n";
}

}  // namespace

std::string study_text(const tune::Study& study, std::int64_t now_unix_ns, std::size_t most_trials) {
  const tune::StudyState& state = study.state();
  std::string text = fmt::format("{}.\n", views::outcome_text(study));
  text += fmt::format("{}: {}; {} trials: {} complete, {} pruned, {} failed, {} running, {} waiting", study.spec().name,
                      views::standing_text(study, now_unix_ns), state.history().trials.size(),
                      state.count(TrialState::kComplete), state.count(TrialState::kPruned),
                      state.count(TrialState::kFailed), state.count(TrialState::kRunning),
                      state.count(TrialState::kWaiting));
  if (const std::size_t paused = state.count(TrialState::kPaused); paused > 0)
    text += fmt::format(", {} paused", paused);
  if (state.trial_seconds() > 0) text += fmt::format("; they took {}", seconds_text(state.trial_seconds()));
  text += "\n";
  for (const auto& [name, trials] : origins_of(study)) {
    text += fmt::format("it starts from {} trials of {}\n", trials, name);
  }
  for (const std::string& warning : tune::study_warnings(study.spec(), state))
    text += fmt::format("warning: {}\n", warning);
  if (study.damaged() > 0) text += fmt::format("{} entries of its log are damaged and left out\n", study.damaged());
  const std::string mattered = views::what_mattered_text(study);
  if (!mattered.empty()) text += fmt::format("What mattered: {}\n", mattered);
  std::vector<std::size_t> order = best_first(study);
  const std::size_t left = order.size() > most_trials ? order.size() - most_trials : 0;
  order.resize(order.size() - left);
  if (!order.empty()) text += "\n" + trials_table(study, order).to_string();
  if (left > 0) text += fmt::format("and {} more\n", left);
  return text;
}

std::string trial_text(const tune::Study& study, std::size_t trial) {
  const tune::History& history = study.state().history();
  const tune::TrialRecord& record = study.state().record(trial);
  std::string text = trial_line(study, trial) + "\n";
  for (const auto& [name, value] : history.space.values_of(history.trials[trial].point)) {
    text += fmt::format("  {} = {}\n", name, tune::text_of(value));
  }
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    const auto& series = history.trials[trial].series[i];
    text += fmt::format("  {}: {}", history.metrics[i].name, number_cell(history.trials[trial].values[i]));
    if (!series.empty())
      text += fmt::format(" (last seen {} at step {})", format_number(series.back().value), series.back().step);
    text += "\n";
  }
  text +=
      fmt::format("  suggested by {}{}{}\n", record.sampler, record.job.empty() ? "" : "; runs as job " + record.job,
                  record.worker.empty() ? "" : "; worker " + record.worker);
  return text;
}

std::string trial_line(const tune::Study& study, std::size_t trial) {
  const tune::History& history = study.state().history();
  const StudyTrial& one = history.trials[trial];
  const tune::TrialRecord& record = study.state().record(trial);
  std::string text = fmt::format("trial {} {}", one.number, tune::name(one.state));
  if (record.seconds > 0) text += fmt::format(" after {}", seconds_text(record.seconds));
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (!std::isnan(one.values[i]))
      text += fmt::format(", {} {}", history.metrics[i].name, format_number(one.values[i]));
  }
  text += ":";
  for (const auto& [name, value] : history.space.values_of(one.point)) {
    text += fmt::format(" {}={}", name, short_text(value));
  }
  if (!record.why.empty()) text += fmt::format(" ({})", record.why);
  return text;
}

std::string studies_table(const std::vector<tune::Study>& studies, std::int64_t now_unix_ns) {
  Table table({{"STUDY"}, {"TRIALS", Align::kRight}, {"COMPLETE", Align::kRight}, {"STATE"}, {"FOUND"}});
  for (const tune::Study& study : studies) {
    table.add_row({study.spec().name, std::to_string(study.state().history().trials.size()),
                   std::to_string(study.state().count(TrialState::kComplete)), views::standing_text(study, now_unix_ns),
                   views::outcome_text(study)});
  }
  return table.to_string();
}

std::string trials_csv(const tune::Study& study) {
  const tune::History& history = study.state().history();
  std::vector<std::string> head = {"trial", "state"};
  for (const tune::Hyperparameter& parameter : history.space.parameters()) head.push_back(parameter.name);
  for (const tune::StudyMetric& metric : history.metrics) head.push_back(metric.name);
  for (const char* name : {"seconds", "sampler", "job", "why"}) head.emplace_back(name);
  std::string csv = csv_line(head);
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    std::vector<std::string> row = {std::to_string(trial.number), std::string(tune::name(trial.state))};
    const tune::TriedValues values = history.space.values_of(trial.point);
    for (const tune::Hyperparameter& parameter : history.space.parameters()) {
      const auto found = values.find(parameter.name);
      row.push_back(found == values.end() ? "" : tune::text_of(found->second));
    }
    for (const double value : trial.values) row.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
    const tune::TrialRecord& record = study.state().record(i);
    row.push_back(fmt::format("{}", record.seconds));
    row.insert(row.end(), {record.sampler, record.job, record.why});
    csv += csv_line(row);
  }
  return csv;
}

}  // namespace trainwarden::cli
