#include "ui/cli/reports/rule_reference.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainwarden::cli {
namespace {

constexpr const char* kRulesHead = R"(# The rules that come with Trainwarden

Made by `trainwarden rules --markdown` from the table that the program itself goes by; do not edit. How rules are
chosen, what they answer and what is written into the run: [rules](rules.md). `trainwarden rules NAME` shows one of
these sections in the terminal.

Rules marked *default* are those of `--rules default`, rules marked *profiler* those of `--rules profiler`, which judge where
the time goes; rules marked *inside* can judge inside the training process, before the optimizer steps.

)";

std::string escaped_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string marks(const RuleDescription& rule) {
  std::string text;
  if (rule.by_default) text += "default";
  if (rule.profiles) text += text.empty() ? "profiler" : ", profiler";
  if (rule.in_process) text += text.empty() ? "inside" : ", inside";
  return text;
}

std::string section(const RuleDescription& rule) {
  std::string text = fmt::format("### {}\n\n{}\n\n", rule.name, rule.summary);
  if (!rule.parameters.empty()) {
    text += "| parameter | default | meaning |\n|---|---|---|\n";
    for (const RuleParameter& parameter : rule.parameters) {
      const std::string value =
          parameter.default_value.empty() ? "(none)" : fmt::format("`{}`", escaped_cell(parameter.default_value));
      text += fmt::format("| `{}` | {} | {} |\n", parameter.name, value, escaped_cell(parameter.description));
    }
    text += "\n";
  }
  if (!rule.details.empty()) text += rule.details + "\n\n";
  if (rule.is_symptom)
    text += "A symptom: beside the rule Diagnosis, where the training is examined, it is a note.\n\n";
  if (rule.is_goal)
    text +=
        "A goal, no fault: what it finds is a note, which changes no status and no exit code, and yet starts "
        "actions.\n\n";
  if (!rule.consequences.empty()) {
    text += fmt::format("Explains verdicts of {}.\n\n", fmt::join(rule.consequences, ", "));
  }
  if (!rule.source.empty()) text += fmt::format("Source: {}\n\n", rule.source);
  return text;
}

}  // namespace

std::string rule_reference(const std::vector<RuleDescription>& rules) {
  std::string text = kRulesHead;
  text += "| rule | about | | |\n|---|---|---|---|\n";
  std::map<std::string, std::vector<const RuleDescription*>> topics;
  for (const RuleDescription& rule : rules) {
    text += fmt::format("| {} | {} | {} | {} |\n", rule.name, rule.topic, marks(rule), escaped_cell(rule.summary));
    topics[rule.topic].push_back(&rule);
  }
  for (const auto& [topic, of_topic] : topics) {
    text += fmt::format("\n## About {}\n\n", topic);
    for (const RuleDescription* rule : of_topic) text += section(*rule);
    text.pop_back();
  }
  return text;
}

}  // namespace trainwarden::cli
