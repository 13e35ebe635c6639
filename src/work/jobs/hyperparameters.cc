#include "work/jobs/hyperparameters.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainwarden::jobs {
namespace {

using document::DocumentValue;
using Kind = DocumentValue::Kind;

// As Python's repr(): the shortest text that is this number again, with a point or an exponent.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// As Python's repr() of a text.
std::string quoted(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result += quote;
}

// What stands within a list or a table.
std::string inner_text(const DocumentValue& value) {
  return value.is(Kind::kText) ? quoted(value.text) : argument_text(value);
}

std::string list_text(const std::vector<DocumentValue>& items) {
  std::vector<std::string> texts;
  for (const DocumentValue& item : items) texts.push_back(inner_text(item));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string table_text(const DocumentValue& table) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : table.fields) texts.push_back(fmt::format("{}={}", name, argument_text(value)));
  std::sort(texts.begin(), texts.end());
  return fmt::format("{}", fmt::join(texts, ","));
}

bool is_for_the_script(const std::string& name) {
  return !name.starts_with("sagemaker_") && name != "_tuning_objective_metric";
}

}  // namespace

std::string argument_text(const DocumentValue& value) {
  switch (value.kind) {
    case Kind::kText: return value.text;
    case Kind::kInteger: return std::to_string(value.integer);
    case Kind::kNumber: return number_text(value.number);
    case Kind::kBoolean: return value.boolean ? "True" : "False";
    case Kind::kList: return list_text(value.items);
    case Kind::kTable: return table_text(value);
    case Kind::kNull:
    case Kind::kOther: return "";
  }
  return "";
}

std::vector<std::string> script_arguments(const std::map<std::string, DocumentValue>& hyperparameters) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : hyperparameters) {
    if (!is_for_the_script(name)) continue;
    arguments.push_back((name.size() > 1 ? "--" : "-") + name);
    arguments.push_back(argument_text(value));
  }
  return arguments;
}

}  // namespace trainwarden::jobs
