#include "work/document/table_reader.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::document {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr std::array<Unit, 11> kTimes = {{{"s", 1},
                                          {"sec", 1},
                                          {"seconds", 1},
                                          {"m", 60},
                                          {"min", 60},
                                          {"minutes", 60},
                                          {"h", 3600},
                                          {"hours", 3600},
                                          {"d", 86400},
                                          {"days", 86400},
                                          {"ms", 1e-3}}};
constexpr std::array<Unit, 9> kSizes = {{{"b", 1},
                                         {"kb", 1e3},
                                         {"mb", 1e6},
                                         {"gb", 1e9},
                                         {"tb", 1e12},
                                         {"kib", 1024.0},
                                         {"mib", 1048576.0},
                                         {"gib", 1073741824.0},
                                         {"tib", 1099511627776.0}}};

// "1.5 h" as 5400. Nothing when it is no number, of no such unit, or below 0.
template <std::size_t N>
std::optional<double> parse_quantity(std::string_view text, const std::array<Unit, N>& units) {
  const std::string plain = lower(trim(text));
  const std::size_t end = plain.find_last_of("0123456789.") + 1;  // 0: not a digit
  const std::optional<double> number = parse_double(std::string_view(plain).substr(0, end));
  if (!number || !(*number >= 0)) return std::nullopt;
  const std::string_view unit = trim(std::string_view(plain).substr(end));
  const auto* const known = std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == unit; });
  return known == units.end() ? std::nullopt : std::optional<double>(*number * known->size);
}

constexpr double kMaxBytes = 1e18;
constexpr std::size_t kMaxShownBytes = 80;

// What was given in place of a quantity.
std::string shown(const DocumentValue& value) {
  if (value.is(DocumentValue::Kind::kText))
    return fmt::format("\"{}\"", printable(value.text.substr(0, kMaxShownBytes)));
  if (value.is(DocumentValue::Kind::kInteger)) return std::to_string(value.integer);
  if (value.is(DocumentValue::Kind::kNumber)) return fmt::format("{}", value.number);
  return std::string(name(value.kind));
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain = lower(name);
  std::erase(plain, '_');
  return plain;
}

std::optional<double> parse_seconds(std::string_view text) {
  return parse_quantity(text, kTimes);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::optional<double> bytes = parse_quantity(text, kSizes);
  if (!bytes || *bytes > kMaxBytes) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

TableReader::TableReader(const DocumentValue& table, Mistakes& mistakes)
    : table_(table), mistakes_(mistakes), taken_(table.fields.size(), false) {}

const DocumentValue* TableReader::take(Names names) {
  known_.emplace_back(*names.begin());
  const DocumentValue* found = nullptr;
  std::string_view first_name;
  for (std::size_t i = 0; i < table_.fields.size(); ++i) {
    const auto& [key, value] = table_.fields[i];
    const std::string plain = plain_name(key);
    const bool meant =
        std::any_of(names.begin(), names.end(), [&](const char* name) { return plain_name(name) == plain; });
    if (!meant) continue;
    taken_[i] = true;
    if (found != nullptr) {
      wrong(value, key, fmt::format("is \"{}\" by another name, which is given already", printable(first_name)));
      continue;
    }
    found = &value;
    first_name = key;
    places_[known_.back()] = value.place;
  }
  return found;
}

std::string TableReader::place_of(std::string_view field) const {
  const auto known = places_.find(field);
  return known == places_.end() ? table_.place : known->second;
}

std::optional<std::string> TableReader::text(Names names) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return std::nullopt;
  if (value->is(DocumentValue::Kind::kText)) return value->text;
  wrong_kind(*value, *names.begin(), "a text");
  return std::nullopt;
}

std::optional<bool> TableReader::boolean(Names names) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return std::nullopt;
  if (value->is(DocumentValue::Kind::kBoolean)) return value->boolean;
  wrong_kind(*value, *names.begin(), "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> TableReader::integer(Names names, std::int64_t min, std::int64_t max) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return std::nullopt;
  if (!value->is(DocumentValue::Kind::kInteger)) {
    wrong_kind(*value, *names.begin(), fmt::format("an integer from {} to {}", min, max));
    return std::nullopt;
  }
  if (value->integer >= min && value->integer <= max) return value->integer;
  wrong(*value, *names.begin(), fmt::format("expected {} to {}, found {}", min, max, value->integer));
  return std::nullopt;
}

std::vector<std::string> TableReader::texts(Names names) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return {};
  if (value->is(DocumentValue::Kind::kText)) return {value->text};
  if (!value->is(DocumentValue::Kind::kList)) {
    wrong_kind(*value, *names.begin(), "a text or a list of texts");
    return {};
  }
  std::vector<std::string> texts;
  for (const DocumentValue& item : value->items) {
    if (item.is(DocumentValue::Kind::kText)) {
      texts.push_back(item.text);
    } else {
      wrong_kind(item, *names.begin(), "a list of texts");
    }
  }
  return texts;
}

std::optional<std::size_t> TableReader::choice(Names names, std::span<const char* const> words) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return std::nullopt;
  const std::string wanted = fmt::format("one of {}", fmt::join(words, ", "));
  if (!value->is(DocumentValue::Kind::kText)) {
    wrong_kind(*value, *names.begin(), wanted);
    return std::nullopt;
  }
  const auto word = std::find_if(words.begin(), words.end(), [&](const char* candidate) {
    return plain_name(candidate) == plain_name(value->text);
  });
  if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  wrong(*value, *names.begin(), fmt::format("expected {}, found \"{}\"", wanted, printable(value->text)));
  return std::nullopt;
}

const DocumentValue* TableReader::table(Names names) {
  const DocumentValue* const value = take(names);
  if (value == nullptr || value->is(DocumentValue::Kind::kTable)) return value;
  wrong_kind(*value, *names.begin(), "a table");
  return nullptr;
}

std::optional<double> TableReader::seconds(Names names, double min, double max) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return std::nullopt;
  const bool is_number = value->is(DocumentValue::Kind::kInteger) || value->is(DocumentValue::Kind::kNumber);
  std::optional<double> seconds;
  if (is_number) seconds = value->number;
  if (value->is(DocumentValue::Kind::kText)) seconds = parse_seconds(value->text);
  if (!seconds) {
    wrong(*value, *names.begin(),
          fmt::format(R"(expected a time, as in "90 min", "24 h", or a number of seconds, found {})", shown(*value)));
    return std::nullopt;
  }
  if (*seconds >= min && *seconds <= max) return seconds;
  wrong(*value, *names.begin(), fmt::format("expected {} s to {} s, found {} s", min, max, *seconds));
  return std::nullopt;
}

std::optional<std::uint64_t> TableReader::bytes(Names names) {
  const DocumentValue* const value = take(names);
  if (value == nullptr) return std::nullopt;
  std::optional<std::uint64_t> bytes;
  if (value->is(DocumentValue::Kind::kInteger) && value->integer >= 0)
    bytes = static_cast<std::uint64_t>(value->integer);
  if (value->is(DocumentValue::Kind::kText)) bytes = parse_bytes(value->text);
  if (!bytes) {
    wrong(*value, *names.begin(),
          fmt::format(R"(expected a size, as in "16 GiB", or a number of bytes, found {})", shown(*value)));
  }
  return bytes;
}

void TableReader::refuse_rest() {
  for (std::size_t i = 0; i < table_.fields.size(); ++i) {
    if (taken_[i]) continue;
    const auto& [key, value] = table_.fields[i];
    const std::string near = did_you_mean(key, known_);
    const std::string known = near.empty() ? fmt::format(" (known: {})", fmt::join(known_, ", ")) : "";
    mistakes_.add(value.place, fmt::format("unknown key \"{}\"{}{}", printable(key), near, known));
  }
}

void TableReader::wrong(const DocumentValue& value, std::string_view field, std::string_view what) {
  mistakes_.add(value.place, fmt::format("{}: {}", printable(field), what));
}

void TableReader::wrong_kind(const DocumentValue& value, std::string_view field, std::string_view wanted) {
  wrong(value, field, fmt::format("expected {}, found {}", wanted, name(value.kind)));
}

}  // namespace trainwarden::document
