// A wire as --on-fire takes it.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/spec_text.h"
#include "core/base/text.h"
#include "react/delivery/wiring.h"

namespace trainwarden::delivery {
namespace {

constexpr std::string_view kEvent = "event=";
constexpr std::string_view kEnvironment = "env:";
constexpr std::string_view kFile = "file:";

// The end of the JSON object that `text` begins with; npos when it has none.
std::size_t object_end(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_string = false;
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// Where a parameter event={...} begins, which is JSON and follows no grammar of ours; npos when there is none.
std::size_t find_event(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == ':' || text[i] == ',')) {
      const std::string_view rest = text.substr(i + 1);
      if (rest.starts_with(kEvent) && rest.substr(kEvent.size()).starts_with('{')) return i + 1;
    }
  }
  return std::string_view::npos;
}

// Takes event={...} out of the text, with the comma beside it. False when the object does not end.
bool take_event(std::string& text, std::string& event) {
  const std::size_t begin = find_event(text);
  if (begin == std::string::npos) return true;
  const std::size_t length = object_end(std::string_view(text).substr(begin + kEvent.size()));
  if (length == std::string::npos) return false;
  event = text.substr(begin + kEvent.size(), length);
  const std::size_t end = begin + kEvent.size() + length;
  if (end < text.size() && text[end] != ',') return false;
  // ":event={...},a=b" keeps the ':', ",event={...}" loses the ','.
  const bool more = end < text.size();
  text.erase(more ? begin : begin - 1, more ? end + 1 - begin : end - begin + 1);
  return true;
}

actions::ParameterValue value_of(const std::string& text) {
  if (text.starts_with(kEnvironment)) return actions::Secret::in_environment(text.substr(kEnvironment.size()));
  if (text.starts_with(kFile)) return actions::Secret::in_file(text.substr(kFile.size()));
  return std::vector<std::string>{text};
}

Status add_parameter(Wire& wire, const std::string& name, const std::string& text) {
  actions::ParameterValue value = value_of(text);
  const auto [there, added] = wire.parameters.try_emplace(name, std::move(value));
  if (added) return {};
  auto* const list = std::get_if<std::vector<std::string>>(&there->second);
  if (list == nullptr || text.starts_with(kEnvironment) || text.starts_with(kFile)) {
    return Status(Code::kInvalidArgument, fmt::format("{} is there twice, and is the place of a secret", name));
  }
  list->push_back(text);
  return {};
}

Status take_parameter(Wire& wire, const std::string& name, const std::string& value) {
  if (name == "name") {
    wire.name = value;
  } else if (name == "event") {
    wire.event = value;
  } else if (name == "rule") {
    for (std::string& rule : split_list(value, ';')) wire.rules.push_back(std::move(rule));
    if (wire.rules.empty()) return Status(Code::kInvalidArgument, "rule names none; write rule=A;B, or leave it out");
  } else {
    return add_parameter(wire, name, value);
  }
  return {};
}

// What was found is not said here: it may hold a secret.
Status bad_wire(std::string_view where) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}: expected ACTION:PARAMETER=VALUE,PARAMETER=VALUE (a comma within a value is written \\, "
                  "or in quotes)",
                  where));
}

}  // namespace

Result<Wire> parse_wire(std::string_view text) {
  Wire wire;
  wire.where = fmt::format("--on-fire {}", printable(trim(text.substr(0, text.find(':')))));
  std::string rest(text);
  if (!take_event(rest, wire.event)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: event: expected a JSON object and then a comma or the end", wire.where));
  }
  const auto words = split_spec(rest, "action");
  if (!words.ok()) return bad_wire(wire.where);
  wire.action = words->name;
  for (const auto& [name, value] : words->parameters) {
    TRAINWARDEN_RETURN_IF_ERROR(take_parameter(wire, name, value).with_context(wire.where));
  }
  if (wire.rules.empty() && wire.event.empty()) wire.rules = {"*"};
  if (!wire.rules.empty() && !wire.event.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("{}: expected either rule or event, found both", wire.where));
  }
  return wire;
}

}  // namespace trainwarden::delivery
