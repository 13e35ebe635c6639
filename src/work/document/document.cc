#include "work/document/document.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/toml_document.h"
#include "data/format/parse_json.h"

namespace trainwarden::document {
namespace {

DocumentValue value_of(const toml::node& node, const std::filesystem::path& file) {
  DocumentValue value;
  value.place = place_in(file, node);
  if (const auto* text = node.as_string()) {
    value.kind = DocumentValue::Kind::kText;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = DocumentValue::Kind::kInteger;
    value.integer = integer->get();
    value.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = DocumentValue::Kind::kNumber;
    value.number = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.kind = DocumentValue::Kind::kBoolean;
    value.boolean = flag->get();
  } else if (const toml::array* list = node.as_array()) {
    value.kind = DocumentValue::Kind::kList;
    for (const toml::node& item : *list) value.items.push_back(value_of(item, file));
  } else if (const toml::table* table = node.as_table()) {
    value.kind = DocumentValue::Kind::kTable;
    for (const auto& [key, field] : *table) value.fields.push_back({std::string(key.str()), value_of(field, file)});
  }
  return value;
}

// `path`: the names and places on the way to it, "inputs.train[2]"; empty: the top.
DocumentValue value_of(const format::Json& json, const std::string& file, const std::string& path) {
  DocumentValue value;
  value.place = path.empty() ? file : fmt::format("{}, {}", file, printable(path));
  if (json.is_string()) {
    value.kind = DocumentValue::Kind::kText;
    value.text = json.get<std::string>();
  } else if (json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)) {
    value.kind = DocumentValue::Kind::kInteger;
    value.integer = json.get<std::int64_t>();
    value.number = static_cast<double>(value.integer);
  } else if (json.is_number()) {
    value.kind = DocumentValue::Kind::kNumber;
    value.number = json.get<double>();
  } else if (json.is_null()) {
    value.kind = DocumentValue::Kind::kNull;
  } else if (json.is_boolean()) {
    value.kind = DocumentValue::Kind::kBoolean;
    value.boolean = json.get<bool>();
  } else if (json.is_array()) {
    value.kind = DocumentValue::Kind::kList;
    for (std::size_t i = 0; i < json.size(); ++i) {
      value.items.push_back(value_of(json[i], file, fmt::format("{}[{}]", path, i + 1)));
    }
  } else if (json.is_object()) {
    value.kind = DocumentValue::Kind::kTable;
    for (const auto& [key, field] : json.items()) {
      value.fields.push_back({key, value_of(field, file, path.empty() ? key : fmt::format("{}.{}", path, key))});
    }
  }
  return value;
}

// A name of a field in which a list at the top of a text is read: the reader knows objects.
constexpr const char* kTop = "list";

Result<DocumentValue> parse_json(std::string_view text, const std::string& file) {
  const bool is_list = trim(text).starts_with('[');
  if (is_list) {  // before it is put into an object, so that places are those of the text
    const Result<format::Json> list = format::parse_json(text, file);
    if (!list.ok()) return Status(Code::kInvalidArgument, list.status().message());
  }
  const std::string object = is_list ? fmt::format("{{\"{}\": {}\n}}", kTop, text) : std::string(text);
  const Result<format::Json> json = format::parse_json_object(object, file);
  if (!json.ok()) return Status(Code::kInvalidArgument, json.status().message());
  if (!is_list) return value_of(*json, file, "");
  return value_of((*json)[kTop], file, "");
}

// TOML cannot begin with a brace, and with a bracket only where a table's name follows.
bool is_json(std::string_view text) {
  const std::string_view begin = trim(text);
  if (begin.starts_with('{')) return true;
  if (!begin.starts_with('[')) return false;
  const std::string_view next = trim(begin.substr(1));
  return next.starts_with('{') || next.starts_with(']');
}

}  // namespace

std::string_view name(DocumentValue::Kind kind) {
  switch (kind) {
    case DocumentValue::Kind::kText: return "a text";
    case DocumentValue::Kind::kInteger: return "an integer";
    case DocumentValue::Kind::kNumber: return "a number";
    case DocumentValue::Kind::kBoolean: return "true or false";
    case DocumentValue::Kind::kList: return "a list";
    case DocumentValue::Kind::kTable: return "a table";
    case DocumentValue::Kind::kNull: return "null";
    case DocumentValue::Kind::kOther: return "a date";
  }
  return "";
}

Result<DocumentValue> parse(std::string_view text, const std::filesystem::path& file) {
  if (is_json(text)) return parse_json(text, printable(file.string()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const toml::table root, parse_toml(text, file));
  DocumentValue value = value_of(root, file);
  value.place = printable(file.string());
  return value;
}

Result<DocumentValue> read(const std::filesystem::path& file, std::string_view expected) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, read_toml_text(file, expected));
  return parse(text, file);
}

}  // namespace trainwarden::document
