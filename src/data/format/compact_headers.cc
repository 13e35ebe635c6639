#include "data/format/compact_headers.h"

#include <limits>
#include <unordered_set>

#include "core/base/read_budget.h"
#include "data/format/compact_json.h"
#include "data/format/name_escape.h"

namespace trainwarden::format {
namespace {

// A text with no more letters than it may have values is within the budget of values.
bool may_hold_too_many_values(std::string_view json) {
  return json.size() > read_limits().json_values;
}

bool read_name(CompactJson& json, std::string& name) {
  const auto written = json.take_string();
  if (!written) return false;
  Result<std::string> plain = unescape_name(*written);
  if (plain.ok()) name = *std::move(plain);
  return plain.ok();
}

bool read_named_tensor(CompactJson& json, std::vector<NameEntry>& entries) {
  if (!json.take(R"({"id":)")) return false;
  const auto id = json.take_number();
  if (!id || *id > std::numeric_limits<std::uint32_t>::max()) return false;
  NameEntry& entry = entries.emplace_back();
  entry.id = static_cast<std::uint32_t>(*id);
  if (!json.take(R"(,"name":)") || !read_name(json, entry.name)) return false;
  if (!json.take(R"(,"collections":)")) return false;
  return json.take_array([&] { return read_name(json, entry.collections.emplace_back()); }) && json.take("}");
}

bool read_metadata(CompactJson& json, std::map<std::string, std::string>& metadata) {
  if (!json.take("{")) return false;
  if (json.take("}")) return true;
  do {
    const auto key = json.take_string();
    if (!key || !json.take(":")) return false;
    const auto value = json.take_string();
    if (!value || !metadata.emplace(*key, *value).second) return false;
  } while (json.take(","));
  return json.take("}");
}

bool read_entry(CompactJson& json, SafetensorsEntry& entry) {
  if (!json.take(R"({"dtype":)")) return false;
  const auto dtype = json.take_string();
  const auto known = dtype ? parse_safetensors_dtype(*dtype) : std::nullopt;
  if (!known || !json.take(R"(,"shape":)")) return false;
  entry.dtype = *known;
  const bool has_shape = json.take_array([&] {
    const auto size = json.take_number();
    if (size) entry.shape.push_back(static_cast<std::int64_t>(*size));
    return size.has_value();
  });
  if (!has_shape || !json.take(R"(,"data_offsets":[)")) return false;
  const auto begin = json.take_number();
  const bool has_both = begin && json.take(",");
  const auto end = has_both ? json.take_number() : std::nullopt;
  if (!end || !json.take("]}")) return false;
  entry.begin = *begin;
  entry.end = *end;
  return *begin <= *end && tensor_bytes(entry.dtype, entry.shape) == *end - *begin;
}

}  // namespace

std::optional<Names> read_compact_names(std::string_view text) {
  if (may_hold_too_many_values(text)) return std::nullopt;
  CompactJson json(text);
  Names names;
  const bool is_read = json.take(R"({"tensors":)") &&
                       json.take_array([&] { return read_named_tensor(json, names.tensors); }) && json.take("}") &&
                       json.at_end();
  return is_read ? std::optional(std::move(names)) : std::nullopt;
}

std::optional<SafetensorsHeader> read_compact_safetensors(std::string_view text) {
  if (may_hold_too_many_values(text)) return std::nullopt;
  CompactJson json(text);
  SafetensorsHeader header;
  std::unordered_set<std::string_view> keys;
  if (!json.take("{")) return std::nullopt;
  if (json.take("}")) return json.at_end() ? std::optional(std::move(header)) : std::nullopt;
  do {
    const auto key = json.take_string();
    if (!key || !json.take(":") || !keys.insert(*key).second) return std::nullopt;
    if (*key == kSafetensorsMetadata) {
      if (!read_metadata(json, header.metadata)) return std::nullopt;
      continue;
    }
    SafetensorsEntry& entry = header.entries.emplace_back();
    entry.name = *key;
    if (!read_entry(json, entry)) return std::nullopt;
  } while (json.take(","));
  return json.take("}") && json.at_end() ? std::optional(std::move(header)) : std::nullopt;
}

}  // namespace trainwarden::format
