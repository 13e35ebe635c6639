#include "data/format/json.h"

#include <new>
#include <set>

#include <fmt/format.h>

#include "core/base/json_marks.h"
#include "data/format/json_mistake.h"
#include "data/format/parse_json.h"

namespace trainwarden::format {
namespace {

// Listens to the parser for what it would let pass: a name given twice within an object. In a pass of its own: a parser
// that makes a tree and is listened to looks, after each object, at all those beside it.
class NameWatch : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override {
    names_.emplace_back();
    return true;
  }
  bool end_object() override {
    names_.pop_back();
    return true;
  }
  bool key(string_t& name) override { return names_.back().insert(name).second; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::vector<std::set<std::string>> names_;  // of the objects that are open
};

Status damaged(std::string_view field, std::string_view expected, const Json* found) {
  return Status(Code::kDataLoss, fmt::format("field \"{}\": expected {}, found {}", field, expected,
                                             found == nullptr ? "nothing" : found->type_name()));
}

const Json* find(const Json& object, const char* field) {
  if (!object.is_object()) return nullptr;
  const auto position = object.find(field);
  return position == object.end() ? nullptr : &*position;
}

}  // namespace

Result<Json> parse_json_object(std::string_view text, std::string_view what) {
  try {
    TRAINWARDEN_RETURN_IF_ERROR(check_json_limits(text, what));
    Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) return not_well_formed(text, what);
    NameWatch watch;
    if (!Json::sax_parse(text.begin(), text.end(), &watch)) {
      return Status(Code::kDataLoss, fmt::format("{}: a name is there twice in an object", what));
    }
    if (!json.is_object()) {
      return Status(Code::kDataLoss, fmt::format("{}: expected a JSON object, found {}", what, json.type_name()));
    }
    return json;
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, fmt::format("{}: not enough memory to read it", what));
  }
}

std::string dump_json(const OrderedJson& json) {
  return escape_marks(json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

Result<std::string> string_field(const Json& object, const char* field) {
  const Json* value = find(object, field);
  if (value == nullptr || !value->is_string()) return damaged(field, "a string", value);
  return value->get<std::string>();
}

Result<std::int64_t> int_field(const Json& object, const char* field, std::int64_t lowest, std::int64_t highest) {
  const Json* value = find(object, field);
  if (value == nullptr || !value->is_number_integer()) return damaged(field, "an integer", value);
  const bool too_large =
      value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto number = value->get<std::int64_t>();
  if (too_large || number < lowest || number > highest) {
    return Status(Code::kDataLoss, fmt::format("field \"{}\": expected an integer from {} to {}, found {}", field,
                                               lowest, highest, value->dump()));
  }
  return number;
}

Result<std::uint64_t> uint_field(const Json& object, const char* field, std::uint64_t highest) {
  const Json* value = find(object, field);
  if (value == nullptr || !value->is_number_unsigned()) return damaged(field, "a non-negative integer", value);
  const auto number = value->get<std::uint64_t>();
  if (number > highest) {
    return Status(Code::kDataLoss, fmt::format("field \"{}\": expected at most {}, found {}", field, highest, number));
  }
  return number;
}

Result<bool> bool_field(const Json& object, const char* field) {
  const Json* value = find(object, field);
  if (value == nullptr || !value->is_boolean()) return damaged(field, "true or false", value);
  return value->get<bool>();
}

Result<const Json*> array_field(const Json& object, const char* field) {
  const Json* value = find(object, field);
  if (value == nullptr || !value->is_array()) return damaged(field, "an array", value);
  return value;
}

Result<const Json*> object_field(const Json& object, const char* field) {
  const Json* value = find(object, field);
  if (value == nullptr || !value->is_object()) return damaged(field, "an object", value);
  return value;
}

Result<std::vector<std::string>> strings_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* array, array_field(object, field));
  std::vector<std::string> strings;
  strings.reserve(array->size());
  for (const Json& item : *array) {
    if (!item.is_string()) return damaged(field, "an array of strings, every item", &item);
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

}  // namespace trainwarden::format
