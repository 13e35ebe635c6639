#include "react/actions/action_kind.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;

constexpr double kLongestMs = 3650.0 * 24 * 3'600'000;  // ten years

struct DurationUnit {
  std::string_view name;
  double ms;
};
constexpr std::array<DurationUnit, 5> kUnits{{{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};

Status not_text(std::string_view name, const Secret& secret) {
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected a text, found the place of a secret ({})", name, secret.describe()));
}

// Without what was found: it may well be a secret.
Status not_secret(std::string_view name) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("{0}: expected where a secret is, found a text; write {0} = {{ env = \"VARIABLE\" }} or {0} = {{ "
                  "file = \"PATH\" }} in a file, {0}=env:VARIABLE or {0}=file:PATH on the command line",
                  name));
}

Status missing(std::string_view name) {
  return Status(Code::kInvalidArgument, fmt::format("{} is missing, and there is no default", name));
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_double(text.substr(0, digits));
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const DurationUnit& candidate) {
    return candidate.name == text.substr(digits);
  });
  if (!number || unit == kUnits.end()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected a time such as 500ms, 30s, 10m, 1.5h or 2d, found \"{}\"", printable(text)));
  }
  const double ms = *number * unit->ms;
  if (ms > kLongestMs) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected a time of at most ten years, found \"{}\"", printable(text)));
  }
  return milliseconds(std::llround(ms));
}

const ParameterValue* ActionParameters::take(std::string_view name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.emplace_back(name);
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<std::string> ActionParameters::list(std::string_view name) {
  const ParameterValue* const value = take(name);
  if (value == nullptr) return {};
  if (const auto* texts = std::get_if<std::vector<std::string>>(value)) return *texts;
  refuse(not_text(name, std::get<Secret>(*value)));
  return {};
}

std::string ActionParameters::text(std::string_view name, std::string_view default_value) {
  const std::vector<std::string> texts = list(name);
  if (texts.size() > 1) {
    refuse(Status(Code::kInvalidArgument, fmt::format("{}: expected one text, found {} ({})", name, texts.size(),
                                                      printable(fmt::format("{}", fmt::join(texts, ", "))))));
  }
  return texts.empty() ? std::string(default_value) : texts.front();
}

std::string ActionParameters::required_text(std::string_view name) {
  std::string value = text(name);
  if (value.empty()) refuse(missing(name));
  return value;
}

bool ActionParameters::flag(std::string_view name, bool default_value) {
  const std::string word = text(name, default_value ? "true" : "false");
  const auto value = parse_bool(word);
  if (!value) {
    refuse(
        Status(Code::kInvalidArgument, fmt::format("{}: expected true or false, found \"{}\"", name, printable(word))));
  }
  return value.value_or(default_value);
}

std::int64_t ActionParameters::integer(std::string_view name, std::int64_t default_value, std::int64_t lowest,
                                       std::int64_t highest) {
  const std::string word = text(name, std::to_string(default_value));
  const auto value = parse_int(word);
  if (!value || *value < lowest || *value > highest) {
    refuse(Status(Code::kInvalidArgument, fmt::format("{}: expected a whole number from {} to {}, found \"{}\"", name,
                                                      lowest, highest, printable(word))));
    return default_value;
  }
  return *value;
}

std::string ActionParameters::choice(std::string_view name, std::string_view default_value,
                                     const std::vector<std::string>& choices) {
  std::string word = text(name, default_value);
  if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
    refuse(Status(Code::kInvalidArgument,
                  fmt::format("{}: expected one of {}, found \"{}\"{}", name, fmt::join(choices, ", "), printable(word),
                              did_you_mean(word, choices))));
    return std::string(default_value);
  }
  return word;
}

milliseconds ActionParameters::duration(std::string_view name, milliseconds default_value) {
  if (take(name) == nullptr) return default_value;
  const auto value = parse_duration(text(name));
  if (!value.ok()) refuse(value.status().with_context(name));
  return value.value_or(default_value);
}

std::optional<Secret> ActionParameters::secret(std::string_view name) {
  const ParameterValue* const value = take(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* place = std::get_if<Secret>(value)) return *place;
  refuse(not_secret(name));
  return std::nullopt;
}

ActionParameters::TextOrSecret ActionParameters::required_text_or_secret(std::string_view name) {
  const ParameterValue* const value = take(name);
  if (value != nullptr && std::holds_alternative<Secret>(*value)) return {{}, std::get<Secret>(*value)};
  return {required_text(name), std::nullopt};
}

Result<std::string> ActionParameters::TextOrSecret::read() const {
  if (secret) return secret->read();
  return text;
}

void ActionParameters::refuse(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Status ActionParameters::status() const {
  if (!status_.ok()) return status_;
  for (const auto& [name, value] : values_) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string all = known_.empty() ? "it has none" : fmt::format("there are {}", fmt::join(known_, ", "));
    return Status(Code::kInvalidArgument,
                  fmt::format("unknown parameter \"{}\"{} ({})", printable(name), did_you_mean(name, known_), all));
  }
  return {};
}

}  // namespace trainwarden::actions
