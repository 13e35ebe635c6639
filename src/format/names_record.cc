#include "format/names_record.h"

#include <limits>

#include <fmt/format.h>

#include "format/json.h"
#include "format/name_escape.h"

namespace trainwarden::format {
namespace {

Result<NameEntry> decode_entry(const Json& json) {
  NameEntry entry;
  constexpr std::uint64_t kLargestId = std::numeric_limits<std::uint32_t>::max();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t id, uint_field(json, "id", kLargestId));
  entry.id = static_cast<std::uint32_t>(id);
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.name, name_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.collections, names_field(json, "collections"));
  return entry;
}

}  // namespace

std::string encode_names(std::span<const NameEntry> entries) {
  OrderedJson tensors = OrderedJson::array();
  for (const NameEntry& entry : entries) {
    tensors.push_back(
        {{"id", entry.id}, {"name", escape_name(entry.name)}, {"collections", names_to_json(entry.collections)}});
  }
  return dump_json({{"tensors", std::move(tensors)}});
}

Result<std::vector<NameEntry>> decode_names(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "names"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* tensors, array_field(json, "tensors"));
  std::vector<NameEntry> entries;
  entries.reserve(tensors->size());
  for (const Json& item : *tensors) {
    Result<NameEntry> entry = decode_entry(item);
    if (!entry.ok()) return entry.status().with_context(fmt::format("names: tensor {}", entries.size()));
    entries.push_back(*std::move(entry));
  }
  return entries;
}

}  // namespace trainwarden::format
