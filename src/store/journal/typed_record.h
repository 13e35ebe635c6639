// A record of words: a JSON object whose "type" says what it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/no_throw.h"
#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// What `from_json` makes of the text when it is of this type, none when it is of another. kDataLoss when it is damaged.
template <class Record>
Result<std::optional<Record>> decode_typed(std::string_view text, std::string_view type,
                                           Result<Record> (*from_json)(const format::Json&)) {
  return no_throw([&]() -> Result<std::optional<Record>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, type));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string found, format::string_field(json, "type"));
    if (found != type) return std::optional<Record>();
    Result<Record> record = from_json(json);
    if (!record.ok()) return record.status().with_context(std::string(type));
    return std::optional<Record>(*std::move(record));
  });
}

}  // namespace trainwarden::journal
