#include "hook/capture/config/json_object.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::capture {
namespace {

using nlohmann::json;

constexpr std::size_t kShownCharacters = 40;

std::string describe(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case json::value_t::string: {
      const std::string& text = value.get_ref<const std::string&>();
      const bool cut = text.size() > kShownCharacters;
      return fmt::format("the text \"{}\"{}", printable(text.substr(0, kShownCharacters)), cut ? "..." : "");
    }
    default: return fmt::format("the number {}", value.dump());
  }
}

// A whole number in [at_least, 2^63); a float with a whole value is not one, so that 1e3 is a question, not a guess.
std::optional<std::int64_t> whole_number(const json& value, std::int64_t at_least) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= at_least ? std::optional(number) : std::nullopt;
}

}  // namespace

JsonObject::JsonObject(const json& value, std::string path, Status& status)
    : value_(value), path_(std::move(path)), status_(status) {
  if (!value_.is_object()) fail_type("", "an object", value_);
}

const json* JsonObject::find(const std::string& key) {
  if (std::find(known_keys_.begin(), known_keys_.end(), key) == known_keys_.end()) known_keys_.push_back(key);
  if (!status_.ok()) return nullptr;
  const auto member = value_.find(key);
  return member == value_.end() ? nullptr : &*member;
}

std::string JsonObject::path_of(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : fmt::format("{}.{}", path_, key);
}

void JsonObject::read(const std::string& key, bool& value) {
  const json* member = find(key);
  if (member == nullptr) return;
  if (!member->is_boolean()) return fail_type(key, "true or false", *member);
  value = member->get<bool>();
}

void JsonObject::read(const std::string& key, std::string& value) {
  const json* member = find(key);
  if (member == nullptr) return;
  if (!member->is_string()) return fail_type(key, "a text", *member);
  value = member->get<std::string>();
}

void JsonObject::read(const std::string& key, std::int64_t& value, std::int64_t at_least) {
  const json* member = find(key);
  if (member == nullptr) return;
  const auto number = whole_number(*member, at_least);
  if (!number) return fail_type(key, fmt::format("an integer of at least {}", at_least), *member);
  value = *number;
}

void JsonObject::read(const std::string& key, std::optional<std::int64_t>& value, std::int64_t at_least) {
  const json* member = find(key);
  if (member == nullptr) return;
  const auto number = whole_number(*member, at_least);
  if (!number && !member->is_null()) {
    return fail_type(key, fmt::format("an integer of at least {}, or null", at_least), *member);
  }
  value = number;
}

void JsonObject::read(const std::string& key, std::vector<std::string>& value) {
  const json* member = find(key);
  if (member == nullptr) return;
  if (!member->is_array()) return fail_type(key, "an array of texts", *member);
  std::vector<std::string> texts;
  for (const json& element : *member) {
    if (!element.is_string()) return fail_type(fmt::format("{}[{}]", key, texts.size()), "a text", element);
    texts.push_back(element.get<std::string>());
  }
  value = std::move(texts);
}

void JsonObject::read(const std::string& key, std::vector<std::int64_t>& value, std::int64_t at_least) {
  const json* member = find(key);
  if (member == nullptr) return;
  if (!member->is_array()) return fail_type(key, "an array of integers", *member);
  std::vector<std::int64_t> numbers;
  for (const json& element : *member) {
    const auto number = whole_number(element, at_least);
    if (!number) {
      return fail_type(fmt::format("{}[{}]", key, numbers.size()), fmt::format("an integer of at least {}", at_least),
                       element);
    }
    numbers.push_back(*number);
  }
  value = std::move(numbers);
}

void JsonObject::read(const std::string& key, std::map<std::string, std::string>& value) {
  const json* member = find(key);
  if (member == nullptr) return;
  if (!member->is_object()) return fail_type(key, "an object of texts", *member);
  for (const auto& [name, element] : member->items()) {
    if (!element.is_string()) return fail_type(fmt::format("{}.{}", key, name), "a text", element);
    value[name] = element.get<std::string>();
  }
}

void JsonObject::fail(std::string_view key, std::string_view problem) {
  if (!status_.ok()) return;
  const std::string place = path_of(key);
  status_ = Status(Code::kInvalidArgument,
                   place.empty() ? std::string(problem) : fmt::format("{}: {}", printable(place), problem));
}

void JsonObject::fail_type(std::string_view key, std::string_view expected, const json& found) {
  fail(key, fmt::format("expected {}, found {}", expected, describe(found)));
}

void JsonObject::finish() {
  if (!status_.ok()) return;
  for (const auto& [key, unused] : value_.items()) {
    if (std::find(known_keys_.begin(), known_keys_.end(), key) != known_keys_.end()) continue;
    return fail("", fmt::format("unknown key \"{}\"{} (known here: {})", printable(key), did_you_mean(key, known_keys_),
                                fmt::join(known_keys_, ", ")));
  }
}

}  // namespace trainwarden::capture
