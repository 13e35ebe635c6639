#include "read/transfer/mcap_schemas.h"

#include <array>

#include <fmt/format.h>

#include "data/format/json.h"
#include "read/transfer/statistics_fields.h"
#include "trainwarden/reduction.h"

namespace trainwarden::transfer {
namespace {

using format::OrderedJson;

OrderedJson of_type(const char* type) {
  return {{"type", type}};
}

// JSON has no NaN and no infinities: they are texts.
OrderedJson mcap_number() {
  return {{"oneOf", {of_type("number"), {{"enum", {"NaN", "Infinity", "-Infinity"}}}}}};
}

OrderedJson mcap_list(const OrderedJson& items) {
  return {{"type", "array"}, {"items", items}};
}

void add_type_fields(OrderedJson& fields) {
  fields["dtype"] = of_type("string");
  fields["shape"] = mcap_list(of_type("integer"));
}

void add_reduction_fields(OrderedJson& fields, int reductions) {
  for (int i = 0; i < reductions; ++i) {
    for (const bool abs : {false, true}) fields[field_name(static_cast<Reduction>(i), abs)] = mcap_number();
  }
}

OrderedJson record_fields(McapForm form) {
  OrderedJson fields = {{"step", of_type("integer")},      {"mode", of_type("string")},
                        {"mode_step", of_type("integer")}, {"unix_ns", of_type("integer")},
                        {"worker", of_type("string")},     {"tensor", of_type("string")},
                        {"form", of_type("string")}};
  if (form == McapForm::kScalar) fields["value"] = mcap_number();
  if (form == McapForm::kReductions) add_reduction_fields(fields, kReductionCount);
  if (form == McapForm::kScalar || form == McapForm::kReductions) return fields;
  add_type_fields(fields);
  if (form == McapForm::kValue) fields["elements"] = mcap_list(OrderedJson::object());
  if (form == McapForm::kStatistics) {
    for (const auto& [count_name, count] : counts_of(Statistics()))
      fields[std::string(count_name)] = of_type("integer");
    add_reduction_fields(fields, kStatisticsReductionCount);
    fields["histogram"] = mcap_list(mcap_list(of_type("number")));
    fields["hash"] = of_type("string");
  }
  return fields;
}

}  // namespace

std::string_view name(McapForm form) {
  constexpr std::array<std::string_view, kMcapForms> kNames = {"value",      "scalar", "statistics",
                                                               "reductions", "shape",  "event"};
  return kNames[static_cast<std::size_t>(form)];
}

std::string schema_name(McapForm form) {
  return fmt::format("trainwarden.{}", name(form));
}

std::string schema_text(McapForm form) {
  OrderedJson fields = record_fields(form);
  if (form == McapForm::kEvent) {
    fields = {{"step", of_type("integer")},
              {"unix_ns", of_type("integer")},
              {"worker", of_type("string")},
              {"kind", of_type("string")},
              {"event", of_type("object")}};
  }
  return format::dump_json({{"type", "object"}, {"properties", fields}});
}

}  // namespace trainwarden::transfer
