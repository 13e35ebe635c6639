#include "ui/cli/reports/action_reference.h"

#include <fmt/format.h>

namespace trainwarden::cli {
namespace {

constexpr const char* kHead = R"(# The actions that come with Trainwarden

Made by `trainwarden actions --markdown` from the table that the program itself goes by; do not edit. How rules and
events lead to actions, and the parameters that all of them have (`rule`, `event`, `name`, `format`, `retry`, ...), are in
[actions](actions.md). `trainwarden actions NAME` shows one of these sections in the terminal. The place of a secret is
`{ env = "NAME" }` or `{ file = "PATH" }` in a file, `env:NAME` or `file:PATH` on the command line.

)";

std::string escaped(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string default_text(const actions::ActionParameterDescription& parameter) {
  if (parameter.required) return "required";
  return parameter.default_value.empty() ? "(none)" : fmt::format("`{}`", escaped(parameter.default_value));
}

std::string section(const actions::ActionKind& kind) {
  std::string text = fmt::format("\n## {}\n\n{}\n", kind.name, kind.summary);
  if (kind.parameters.empty()) return text + "\nIt has no parameters of its own.\n";
  text += "\n| parameter | default | meaning |\n|---|---|---|\n";
  for (const actions::ActionParameterDescription& parameter : kind.parameters) {
    text +=
        fmt::format("| `{}` | {} | {} |\n", parameter.name, default_text(parameter), escaped(parameter.description));
  }
  return text;
}

}  // namespace

std::string action_reference(const std::vector<actions::ActionKind>& kinds) {
  std::string text = kHead;
  text += "| action | what it does |\n|---|---|\n";
  for (const actions::ActionKind& kind : kinds) {
    text += fmt::format("| [{0}](#{0}) | {1} |\n", kind.name, escaped(kind.summary));
  }
  for (const actions::ActionKind& kind : kinds) text += section(kind);
  return text;
}

}  // namespace trainwarden::cli
