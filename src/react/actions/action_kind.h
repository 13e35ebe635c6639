// ActionKind: an action that exists, and how one is made from what a user wrote.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "react/actions/action.h"
#include "react/actions/run_context.h"
#include "react/actions/secret.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

// What the user gave for one parameter: texts (one, or a list), or the place of a secret.
using ParameterValue = std::variant<std::vector<std::string>, Secret>;

// The parameters of one action, taken out one by one. The first thing wrong is kept, and returned by status().
class ActionParameters {
 public:
  explicit ActionParameters(std::map<std::string, ParameterValue> values) : values_(std::move(values)) {}

  std::string text(std::string_view name, std::string_view default_value = {});  // a list of one, or none given
  std::string required_text(std::string_view name);
  std::vector<std::string> list(std::string_view name);
  bool flag(std::string_view name, bool default_value);  // true, false, yes, no
  std::int64_t integer(std::string_view name, std::int64_t default_value, std::int64_t lowest, std::int64_t highest);
  std::string choice(std::string_view name, std::string_view default_value, const std::vector<std::string>& choices);
  // "500ms", "30s", "10m", "2h", "1d"
  std::chrono::milliseconds duration(std::string_view name, std::chrono::milliseconds default_value);
  // A place of a secret; a text in its stead is an error that says how to name one.
  std::optional<Secret> secret(std::string_view name);
  // Either: what may hold a secret, such as a URL of Slack's.
  struct TextOrSecret {
    std::string text;
    std::optional<Secret> secret;
    Result<std::string> read() const;
  };
  TextOrSecret required_text_or_secret(std::string_view name);

  void refuse(Status status);  // keeps the first
  // kInvalidArgument: the first thing that was wrong, or a parameter that nobody took, with the nearest known name.
  Status status() const;

 private:
  const ParameterValue* take(std::string_view name);
  std::map<std::string, ParameterValue> values_;
  std::vector<std::string> known_;
  Status status_;
};

// kInvalidArgument says what is expected: "30s", "10m", "1.5h".
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

struct ActionParameterDescription {
  std::string name;
  std::string default_value;  // "" : none
  std::string description;
  bool required = false;
};

struct ActionKind {
  std::string name;     // "webhook"
  std::string summary;  // one sentence
  std::vector<ActionParameterDescription> parameters;
  std::function<Result<std::unique_ptr<Action>>(ActionParameters& parameters, const RunContext& run)> create;
};

// Those that need no network: stop, save, black-box, profile, exec, file.
const std::vector<ActionKind>& local_action_kinds();

}  // namespace trainwarden::actions
