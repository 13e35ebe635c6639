#include "work/jobs/spec_change.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/document/document_json.h"
#include "work/document/table_reader.h"

namespace trainwarden::jobs {
namespace {

using document::DocumentField;
using document::DocumentValue;
using Kind = DocumentValue::Kind;

void remove_field(DocumentValue& table, std::string_view name) {
  const std::string plain = document::plain_name(name);
  std::erase_if(table.fields, [&](const DocumentField& field) { return document::plain_name(field.name) == plain; });
}

DocumentValue text_value(std::string_view text) {
  DocumentValue value;
  value.kind = Kind::kText;
  value.text = text;
  return value;
}

// Made when it is not there. Its own names are taken as they are written.
DocumentValue& hyperparameters_of(DocumentValue& top) {
  const std::string plain = document::plain_name("hyperparameters");
  const auto found = std::find_if(top.fields.begin(), top.fields.end(), [&](const DocumentField& field) {
    return document::plain_name(field.name) == plain;
  });
  if (found != top.fields.end()) return found->value;
  DocumentValue table;
  table.kind = Kind::kTable;
  top.fields.push_back({"hyperparameters", std::move(table)});
  return top.fields.back().value;
}

void set_field(DocumentValue& table, const std::string& name, const DocumentValue& value) {
  const auto found = std::find_if(table.fields.begin(), table.fields.end(),
                                  [&](const DocumentField& field) { return field.name == name; });
  if (found != table.fields.end()) {
    found->value = value;
  } else {
    table.fields.push_back({name, value});
  }
}

}  // namespace

Result<std::string> changed_spec(std::string_view text, const SpecChange& change) {
  TRAINWARDEN_ASSIGN_OR_RETURN(DocumentValue top, document::parse(text, "job"));
  if (!top.is(Kind::kTable)) return Status(Code::kInvalidArgument, "expected a job, found a list");
  remove_field(top, "array");
  if (!change.source_dir.empty()) {
    remove_field(top, "source_dir");
    remove_field(top, "dependencies");  // they lie beside the sources in the copy
    top.fields.push_back({"source_dir", text_value(change.source_dir)});
  }
  if (!change.hyperparameters.empty()) {
    DocumentValue& hyperparameters = hyperparameters_of(top);
    for (const auto& [name, value] : change.hyperparameters) set_field(hyperparameters, name, value);
  }
  return document::to_json_text(top);
}

document::DocumentValue scalar_value(std::string_view text) {
  DocumentValue value = text_value(text);
  if (const std::optional<std::int64_t> integer = parse_int(text)) {
    value.kind = Kind::kInteger;
    value.integer = *integer;
    value.number = static_cast<double>(*integer);
  } else if (const std::optional<double> number = parse_double(text)) {
    value.kind = Kind::kNumber;
    value.number = *number;
  } else if (text == "true" || text == "false") {
    value.kind = Kind::kBoolean;
    value.boolean = text == "true";
  }
  return value;
}

Result<Assignment> parse_assignment(std::string_view text, std::string_view option) {
  const std::size_t equals = text.find('=');
  if (equals != 0 && equals != std::string_view::npos) {
    return Assignment{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  }
  return Status(Code::kInvalidArgument, fmt::format("{}: expected a hyper-parameter and its value, as in lr=0.1, "
                                                    "found \"{}\"",
                                                    option, printable(text)));
}

}  // namespace trainwarden::jobs
