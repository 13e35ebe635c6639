#include "hook/capture/config/option_values.h"

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::capture {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 10> kUnits = {{
    {"", 1},
    {"b", 1},
    {"kib", std::uint64_t{1} << 10},
    {"mib", std::uint64_t{1} << 20},
    {"gib", std::uint64_t{1} << 30},
    {"tib", std::uint64_t{1} << 40},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
}};

Status bad_byte_size(std::string_view text) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("expected a number of bytes such as 268435456 or \"256MiB\", found \"{}\"", printable(text)));
}

template <class Value>
Result<Value> parse_word(std::string_view text, const std::vector<std::pair<std::string, Value>>& words) {
  const std::string wanted = lower(trim(text));
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == wanted) return value;
    known.push_back(word);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("expected one of \"{}\", found \"{}\"{}", fmt::join(known, "\", \""), printable(text),
                            did_you_mean(wanted, known)));
}

}  // namespace

Result<std::uint64_t> parse_byte_size(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const std::size_t digits = std::min(trimmed.find_first_not_of("0123456789"), trimmed.size());
  const auto count = parse_int(trimmed.substr(0, digits));
  const std::string unit = lower(trim(trimmed.substr(digits)));
  for (const auto& [name, bytes] : kUnits) {
    if (!count || name != unit) continue;
    const auto number = static_cast<std::uint64_t>(*count);
    if (number > std::numeric_limits<std::uint64_t>::max() / bytes) break;
    return number * bytes;
  }
  return bad_byte_size(text);
}

Result<double> parse_share(std::string_view text) {
  std::string_view number = trim(text);
  const bool percent = number.ends_with('%');
  if (percent) number = trim(number.substr(0, number.size() - 1));
  const auto parsed = parse_double(number);
  const double share = parsed.value_or(-1) / (percent ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  return Status(Code::kInvalidArgument,
                fmt::format("expected a share from 0 to 1 such as 0.01 or \"1%\", found \"{}\"", printable(text)));
}

Result<int> parse_black_box_steps(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000;  // what is too many is for who opens it to say
  if (const auto steps = parse_int(trim(text)); steps && *steps >= 0 && *steps <= kMost) {
    return static_cast<int>(*steps);
  }
  if (const auto on = parse_bool(trim(text))) return *on ? kDefaultBlackBoxSteps : 0;
  return Status(Code::kInvalidArgument,
                fmt::format("expected a number of steps, \"on\" or \"off\", found \"{}\"", printable(text)));
}

Result<OperatorWindow> parse_operator_window(std::string_view text) {
  text = trim(text);
  if (text == "auto") return unasked_operator_window();
  if (const auto on = parse_bool(text)) return OperatorWindow{.steps = *on ? kDefaultOperatorSteps : 0};
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto first = parse_int(trim(text.substr(0, colon)));
    const auto end = parse_int(trim(text.substr(colon + 1)));
    if (first && end && *first >= 0 && *end > *first)
      return OperatorWindow{.first_step = *first, .steps = *end - *first};
  }
  return Status(Code::kInvalidArgument,
                fmt::format("expected steps such as 5:15, \"auto\", \"on\" or \"off\", found \"{}\"", printable(text)));
}

OperatorWindow unasked_operator_window() {
  return {.steps = kDefaultOperatorSteps, .max_calls = kDefaultOperatorCalls};
}

Result<int> parse_stack_hz(std::string_view text) {
  text = trim(text);
  if (const auto hz = parse_int(text); hz && *hz >= 0 && *hz <= kMaxStackHz) return static_cast<int>(*hz);
  if (const auto on = parse_bool(text)) return *on ? kDefaultStackHz : 0;
  return Status(
      Code::kInvalidArgument,
      fmt::format("expected samples a second up to {}, \"on\" or \"off\", found \"{}\"", kMaxStackHz, printable(text)));
}

Result<KeepForm> parse_keep(std::string_view text) {
  KeepForm keep{.values = false};
  for (const std::string& word : split_list(text)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(bool KeepForm::*const form,
                                 parse_word<bool KeepForm::*>(word, {{"values", &KeepForm::values},
                                                                     {"statistics", &KeepForm::statistics},
                                                                     {"histogram", &KeepForm::histogram},
                                                                     {"hash", &KeepForm::hash},
                                                                     {"shape", &KeepForm::shape}}));
    keep.*form = true;
  }
  if (keep == KeepForm{.values = false}) {
    return Status(Code::kInvalidArgument, "expected at least one of values, statistics, histogram, hash and shape");
  }
  return keep;
}

Result<IncludeWorkers> parse_include_workers(std::string_view text) {
  return parse_word<IncludeWorkers>(text, {{"one", IncludeWorkers::kOne}, {"all", IncludeWorkers::kAll}});
}

Result<WhenFull> parse_when_full(std::string_view text) {
  return parse_word<WhenFull>(
      text, {{"drop", WhenFull::kDrop}, {"statistics", WhenFull::kStatistics}, {"block", WhenFull::kBlock}});
}

Result<Durability> parse_durability(std::string_view text) {
  return parse_word<Durability>(
      text, {{"none", Durability::kNone}, {"interval", Durability::kInterval}, {"step", Durability::kStep}});
}

}  // namespace trainwarden::capture
