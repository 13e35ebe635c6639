#include "hook/capture/config/smdebug_values.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::capture {
namespace {

using nlohmann::json;

std::optional<std::int64_t> whole_of(const json& value, std::int64_t at_least) {
  std::optional<std::int64_t> number;
  if (value.is_string()) number = parse_int(trim(value.get_ref<const std::string&>()));
  const bool too_large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (value.is_number_integer() && !too_large) number = value.get<std::int64_t>();
  return number && *number >= at_least ? number : std::nullopt;
}

std::optional<bool> flag_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return parse_bool(trim(value.get_ref<const std::string&>()));
  const auto number = whole_of(value, 0);
  return number && *number <= 1 ? std::optional(*number == 1) : std::nullopt;
}

std::string whole_text(std::int64_t at_least) {
  return fmt::format("an integer of at least {}, as a number or a text", at_least);
}

// The elements of a list in either form.
json elements_of(const json& value) {
  if (value.is_array()) return value;
  json elements = json::array();
  if (!value.is_string()) {
    elements.push_back(value);
    return elements;
  }
  for (const std::string& element : split_list(value.get_ref<const std::string&>())) elements.push_back(element);
  return elements;
}

}  // namespace

void read_flag(JsonObject& object, const std::string& key, bool& value) {
  std::optional<bool> flag;
  read_flag(object, key, flag);
  value = flag.value_or(value);
}

void read_flag(JsonObject& object, const std::string& key, std::optional<bool>& value) {
  const json* member = object.find(key);
  if (member == nullptr) return;
  const auto flag = flag_of(*member);
  if (!flag) return object.fail_type(key, "true or false, as a boolean or a text", *member);
  value = flag;
}

void read_whole(JsonObject& object, const std::string& key, std::int64_t& value, std::int64_t at_least) {
  const json* member = object.find(key);
  if (member == nullptr) return;
  const auto number = whole_of(*member, at_least);
  if (!number) return object.fail_type(key, whole_text(at_least), *member);
  value = *number;
}

void read_whole(JsonObject& object, const std::string& key, std::optional<std::int64_t>& value, std::int64_t at_least) {
  const json* member = object.find(key);
  if (member == nullptr) return;
  const auto number = whole_of(*member, at_least);
  if (!number && !member->is_null()) return object.fail_type(key, whole_text(at_least) + ", or null", *member);
  value = number;
}

void read_wholes(JsonObject& object, const std::string& key, std::vector<std::int64_t>& value, std::int64_t at_least) {
  const json* member = object.find(key);
  if (member == nullptr) return;
  std::vector<std::int64_t> numbers;
  for (const json& element : elements_of(*member)) {
    const auto number = whole_of(element, at_least);
    if (!number) {
      const std::string expected = fmt::format("integers of at least {}, as a list or a text \"0,1\"", at_least);
      return object.fail_type(key, expected, *member);
    }
    numbers.push_back(*number);
  }
  value = std::move(numbers);
}

void read_texts(JsonObject& object, const std::string& key, std::vector<std::string>& value) {
  const json* member = object.find(key);
  if (member == nullptr) return;
  std::vector<std::string> texts;
  for (const json& element : elements_of(*member)) {
    if (!element.is_string()) return object.fail_type(key, "texts, as a list or separated by commas", *member);
    const std::string& text = element.get_ref<const std::string&>();
    if (!text.empty()) texts.push_back(text);
  }
  value = std::move(texts);
}

void read_text(JsonObject& object, const std::string& key, std::string& value) {
  const json* member = object.find(key);
  if (member == nullptr || member->is_null()) return;
  object.read(key, value);
}

}  // namespace trainwarden::capture
