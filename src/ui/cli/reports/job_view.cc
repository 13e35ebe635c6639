#include "ui/cli/reports/job_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/cli/terminal/table.h"
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

std::vector<std::string> words_of(const jobs::JobSpec& spec) {
  std::vector<std::string> words = spec.program;
  if (words.empty() && spec.entry_point.ends_with(".py")) words = {"python3", spec.entry_point};
  if (words.empty()) words = {spec.entry_point};
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  const std::vector<std::string> parameters = jobs::script_arguments(spec.hyperparameters);
  words.insert(words.end(), parameters.begin(), parameters.end());
  return words;
}

std::string tasks_text(const jobs::Resources& resources) {
  std::vector<std::string> parts = {
      fmt::format("{} node{}", resources.nodes, resources.nodes == 1 ? "" : "s"),
      fmt::format("{} task{} on each", resources.tasks_per_node, resources.tasks_per_node == 1 ? "" : "s")};
  if (resources.cpus) parts.push_back(fmt::format("{} processors a task", *resources.cpus));
  if (resources.gpus) parts.push_back(fmt::format("{} GPUs a node", *resources.gpus));
  if (resources.memory_bytes) parts.push_back(format_bytes(*resources.memory_bytes) + " a node");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string plan_text(const jobs::JobSpec& spec) {
  std::string text =
      fmt::format("  runs      {}\n  on        {}\n  for       {} at most, {} tries\n", printable(job_command(spec)),
                  tasks_text(spec.resources), duration(spec.limits.max_run_seconds), spec.limits.retries + 1);
  for (const jobs::Channel& channel : spec.inputs) {
    text += fmt::format("  input     {}: {}\n", channel.name, printable(channel.source));
  }
  if (!spec.rules.empty())
    text += fmt::format("  rules     {}\n", printable(fmt::format("{}", fmt::join(spec.rules, "; "))));
  return text;
}

}  // namespace

std::string job_command(const jobs::JobSpec& spec) {
  std::vector<std::string> words;
  for (const std::string& text : words_of(spec)) words.push_back(word(text));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string job_lint_text(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings) {
  std::string text;
  for (const document::Mistake& mistake : mistakes.listed()) {
    text += fmt::format("{}: {}\n", mistake.place, mistake.what);
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
          {"command", mistakes.any() ? OrderedJson(nullptr) : OrderedJson(words_of(spec))}};
}

}  // namespace trainwarden::cli
