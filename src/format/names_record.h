// Names: which tensor ids stand for which names. Told once in a segment, before an id is first used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::format {

struct NameEntry {
  std::uint32_t id = 0;
  std::string name;                      // any bytes
  std::vector<std::string> collections;  // that the tensor belongs to
  friend bool operator==(const NameEntry&, const NameEntry&) = default;
};

std::string encode_names(std::span<const NameEntry> entries);
Result<std::vector<NameEntry>> decode_names(std::string_view json);

}  // namespace trainwarden::format
