#include "core/base/spec_text.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden {
namespace {

Status bad_spec(std::string_view what, std::string_view spec, std::string_view fault) {
  return Status(Code::kInvalidArgument,
                fmt::format("{} \"{}\": {}; write NAME:param=value,param=value", what, printable(spec), fault));
}

// Splits at the commas that separate parameters, and takes quotes and escapes away.
Result<std::vector<std::string>> split_parameters(std::string_view text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == '"' || (next == ',' && !quoted))) {
      parts.back() += next;
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  if (quoted) return Status(Code::kInvalidArgument, "a quote is not closed");
  return parts;
}

}  // namespace

Result<SpecText> split_spec(std::string_view text, std::string_view what) {
  const std::size_t colon = text.find(':');
  SpecText spec;
  spec.name = trim(text.substr(0, colon));
  if (spec.name.empty()) return bad_spec(what, text, "it has no name");
  if (colon == std::string_view::npos) return spec;
  const auto parts = split_parameters(text.substr(colon + 1));
  if (!parts.ok()) return bad_spec(what, text, parts.status().message());
  for (const std::string& part : *parts) {
    const std::size_t equals = part.find('=');
    const std::string key(trim(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos) {
      return bad_spec(
          what, text,
          fmt::format("\"{}\" has no value (a comma within a value is written \\, or in quotes)", printable(key)));
    }
    if (key.empty()) return bad_spec(what, text, "a value has no parameter before its \"=\"");
    spec.parameters.emplace_back(key, trim(std::string_view(part).substr(equals + 1)));
  }
  return spec;
}

std::vector<std::string> split_value_list(std::string_view value) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size() && value[i + 1] == ',') {
      parts.back() += value[++i];
    } else if (value[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += value[i];
    }
  }
  for (std::string& part : parts) part = std::string(trim(part));
  std::erase(parts, "");
  return parts;
}

}  // namespace trainwarden
