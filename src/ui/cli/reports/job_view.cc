#include "ui/cli/reports/job_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/cli/terminal/table.h"
#include "ui/cli/terminal/time_text.h"
#include "work/jobs/hyperparameters.h"

namespace trainwarden::cli {
namespace {

std::string duration(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

// As a shell takes it.
std::string word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& text : words) quoted.push_back(word(text));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string tasks_text(const jobs::Resources& resources) {
  std::vector<std::string> parts = {
      fmt::format("{} node{}", resources.nodes, resources.nodes == 1 ? "" : "s"),
      fmt::format("{} task{} on each", resources.tasks_per_node, resources.tasks_per_node == 1 ? "" : "s")};
  if (resources.cpus)
    parts.push_back(fmt::format("{} processor{} a task", *resources.cpus, *resources.cpus == 1 ? "" : "s"));
  if (resources.gpus) parts.push_back(fmt::format("{} GPU{} a node", *resources.gpus, *resources.gpus == 1 ? "" : "s"));
  if (resources.memory_bytes) parts.push_back(format_bytes(*resources.memory_bytes) + " a node");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string tries_text(std::int64_t tries) {
  return tries == 1 ? "one try" : fmt::format("{} tries", tries);
}

std::string plan_text(const jobs::JobSpec& spec) {
  std::string text = fmt::format("  runs      {}\n  on        {}\n  for       {} at most, {}\n",
                                 printable(shell_line(program_words(spec))), tasks_text(spec.resources),
                                 duration(spec.limits.max_run_seconds), tries_text(spec.limits.retries + 1));
  if (const auto points = jobs::points_of(spec.array); !spec.array.empty() && points.ok()) {
    text += fmt::format("  array     {} jobs\n", points->size());
  }
  for (const jobs::Channel& channel : spec.inputs) {
    text += fmt::format("  input     {}: {}\n", channel.name, printable(channel.source));
  }
  if (!spec.rules.empty())
    text += fmt::format("  rules     {}\n", printable(fmt::format("{}", fmt::join(spec.rules, "; "))));
  return text;
}

}  // namespace

std::vector<std::string> program_words(const jobs::JobSpec& spec) {
  std::vector<std::string> words = spec.program;
  if (words.empty() && spec.entry_point.ends_with(".py")) words = {"python3", spec.entry_point};
  if (words.empty()) words = {spec.entry_point};
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  const std::vector<std::string> parameters = jobs::script_arguments(spec.hyperparameters);
  words.insert(words.end(), parameters.begin(), parameters.end());
  return words;
}

namespace {

// "Failed (AlgorithmError: ...)"
std::string status_line(const jobs::Transition& now) {
  const std::string note = now.message.empty() ? "" : fmt::format(" ({})", printable(now.message));
  return fmt::format("{}{}", name(now.status), note);
}

OrderedJson transition_json(const jobs::Transition& transition) {
  return {{"seq", transition.seq},
          {"time", format_rfc3339(transition.unix_ns, 3)},
          {"status", name(jobs::status_of(transition.status))},
          {"secondary_status", name(transition.status)},
          {"cause", transition.cause},
          {"message", transition.message}};
}

}  // namespace

namespace {

std::vector<Column> job_columns(const std::vector<std::string>& more) {
  std::vector<Column> columns = {{"JOB"}, {"STATUS"}, {"SUBMITTED"}, {"RAN", Align::kRight}};
  for (const std::string& name : more) columns.push_back({printable(name), Align::kRight});
  columns.push_back({"WHAT HAPPENED LAST"});
  return columns;
}

}  // namespace

JobTable::JobTable(std::vector<std::string> columns)
    : columns_(std::move(columns)), table_(job_columns(columns_)), now_unix_ns_(system_clock().unix_ns()) {}

void JobTable::add(const catalogue::CataloguedJob& job, const ListItem& item) {
  const bool readable = job.unreadable.ok();
  std::vector<std::string> cells = {job.name, readable ? std::string(name(job.now.status)) : kUnreadable,
                                    readable ? age_text(job.submitted_unix_ns, now_unix_ns_) : "",
                                    job.ran_ns > 0 ? format_duration_ns(job.ran_ns) : ""};
  for (const std::string& column : columns_) cells.push_back(cell_text(item, column));
  cells.push_back(readable ? job.now.message : job.unreadable.message());
  table_.add_row(std::move(cells));
}

ListItem list_item_of(const catalogue::CataloguedJob& job) {
  ListItem item;
  item.name = job.name;
  item.experiment = job.experiment;
  item.unix_ns = job.submitted_unix_ns;
  if (!job.unreadable.ok()) {
    item.statuses = {kUnreadable};
    return item;
  }
  item.statuses = {std::string(name(job.now.status)), std::string(name(jobs::status_of(job.now.status)))};
  item.values = catalogue::list_values(job.hyperparameters);
  item.facts = {{"ran", static_cast<double>(job.ran_ns) * 1e-9}};
  return item;
}

OrderedJson row_json(const catalogue::CataloguedJob& job, const ListItem& item) {
  if (!job.unreadable.ok()) return {{"name", job.name}, {"unreadable", job.unreadable.message()}};
  OrderedJson json = {{"name", job.name}, {"submitted", format_rfc3339(job.submitted_unix_ns, 3)}, {"run", job.run}};
  json.update(transition_json(job.now));
  json["experiment"] = job.experiment.empty() ? OrderedJson(nullptr) : OrderedJson(job.experiment);
  json["trial"] = job.trial.empty() ? OrderedJson(nullptr) : OrderedJson(job.trial);
  json["ran_seconds"] = static_cast<double>(job.ran_ns) * 1e-9;
  json["hyperparameters"] = catalogue::json_of(item.values);
  return json;
}

std::string standing_text(const jobs::JobRecord& job, const jobs::Transition& now) {
  return fmt::format("{}: {}", job.order().name, status_line(now));
}

OrderedJson standing_json(const jobs::JobRecord& job, const jobs::Transition& now) {
  OrderedJson json = {{"job", job.order().name}};
  json.update(transition_json(now));
  return json;
}

namespace {

std::string agent_text(const storage::LeaseSign& sign) {
  return fmt::format("  agent   process {}, seen {}, promised by {}\n", sign.pid, local_time_text(sign.renewed_unix_ns),
                     local_time_text(sign.next_unix_ns));
}

OrderedJson agent_json(const std::optional<storage::LeaseSign>& sign) {
  if (!sign) return nullptr;
  return {{"pid", sign->pid},
          {"renewed", format_rfc3339(sign->renewed_unix_ns, 3)},
          {"next", format_rfc3339(sign->next_unix_ns, 3)}};
}

}  // namespace

std::string job_text(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions,
                     const AttemptFacts& attempt) {
  const jobs::JobOrder& order = job.order();
  const std::optional<storage::LeaseSign> agent = job.agent_sign(system_clock());
  const std::string on = order.host.empty() ? "" : fmt::format("  on      {}\n", printable(order.host));
  std::string text = fmt::format("{}\n{}{}  runs    {}\n  in      {}\n  run     {}\n  output  {}\n{}\n",
                                 standing_text(job, transitions.back()), on, agent ? agent_text(*agent) : "",
                                 printable(shell_line(order.program)), printable(order.folder), printable(order.run),
                                 printable(job.output().string()), attempt_text(attempt));
  Table table({{"TIME"}, {"STATUS"}, {"CAUSE"}, {"MESSAGE"}});
  for (const jobs::Transition& one : transitions) {
    table.add_row({local_time_text(one.unix_ns), std::string(name(one.status)), one.cause, one.message});
  }
  return text + table.to_string();
}

OrderedJson job_json(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions,
                     const AttemptFacts& attempt) {
  const jobs::JobOrder& order = job.order();
  OrderedJson list = OrderedJson::array();
  for (const jobs::Transition& one : transitions) list.push_back(transition_json(one));
  OrderedJson json = standing_json(job, transitions.back());
  json.update({{"submitted", format_rfc3339(order.submitted_unix_ns, 3)},
               {"program", order.program},
               {"folder", order.folder},
               {"run", order.run},
               {"output", job.output().string()},
               {"backend", jobs::name(order.backend)},
               {"host", order.host},
               {"agent", agent_json(job.agent_sign(system_clock()))},
               {"ranks", order.ranks},
               {"array", order.array.empty() ? OrderedJson(nullptr) : OrderedJson(order.array)},
               {"repeats", order.repeats.empty() ? OrderedJson(nullptr) : OrderedJson(order.repeats)},
               {"attempt", attempt.attempt},
               {"max_run_seconds", order.max_run_seconds},
               {"transitions", list},
               {"spec", order.spec},
               {"spec_file", order.spec_file}});
  json.update(attempt_json(attempt));
  return json;
}

std::string job_lint_text(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings) {
  std::string text;
  for (const document::Mistake& mistake : mistakes.listed()) {
    text += text_of(mistake) + "\n";
  }
  if (mistakes.count() > mistakes.listed().size()) {
    text += fmt::format("and {} more\n", mistakes.count() - mistakes.listed().size());
  }
  for (const jobs::Warning& warning : warnings) {
    text += fmt::format("{}: {}: {}\n", warning.place, warning.code, warning.what);
  }
  text += fmt::format("{}: mistakes: {}, warnings: {}\n", spec.place, mistakes.count(), warnings.size());
  return mistakes.any() ? text : text + plan_text(spec);
}

OrderedJson job_lint_json(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings) {
  OrderedJson wrong = OrderedJson::array();
  for (const document::Mistake& mistake : mistakes.listed()) {
    wrong.push_back({{"place", mistake.place}, {"message", mistake.what}});
  }
  OrderedJson doubtful = OrderedJson::array();
  for (const jobs::Warning& warning : warnings) {
    doubtful.push_back({{"code", warning.code}, {"place", warning.place}, {"message", warning.what}});
  }
  return {{"spec", spec.place},
          {"count", mistakes.count()},
          {"mistakes", wrong},
          {"warnings", doubtful},
          {"command", mistakes.any() ? OrderedJson(nullptr) : OrderedJson(program_words(spec))}};
}

}  // namespace trainwarden::cli
