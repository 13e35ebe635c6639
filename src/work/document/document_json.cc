#include "work/document/document_json.h"

#include <cmath>

#include "data/format/json.h"

namespace trainwarden::document {
namespace {

format::OrderedJson number_json(double number) {
  if (std::isfinite(number)) return number;
  if (std::isnan(number)) return "nan";
  return number > 0 ? "inf" : "-inf";
}

format::OrderedJson json_of_value(const DocumentValue& value) {
  switch (value.kind) {
    case DocumentValue::Kind::kText: return value.text;
    case DocumentValue::Kind::kInteger: return value.integer;
    case DocumentValue::Kind::kNumber: return number_json(value.number);
    case DocumentValue::Kind::kBoolean: return value.boolean;
    case DocumentValue::Kind::kNull:
    case DocumentValue::Kind::kOther: return nullptr;
    case DocumentValue::Kind::kList: {
      format::OrderedJson list = format::OrderedJson::array();
      for (const DocumentValue& item : value.items) list.push_back(json_of_value(item));
      return list;
    }
    case DocumentValue::Kind::kTable: {
      format::OrderedJson table = format::OrderedJson::object();
      for (const DocumentField& field : value.fields) table[field.name] = json_of_value(field.value);
      return table;
    }
  }
  return nullptr;
}

}  // namespace

std::string to_json_text(const DocumentValue& value) {
  return format::dump_json(json_of_value(value));
}

}  // namespace trainwarden::document
