// The two headers that opening a run and reading a step wait for, read without a tree when they are written as we write
// them. What these decline, for whatever reason, is read with care by decode_names and decode_safetensors_header, which
// also say what is wrong with it; what they accept, those accept with the same result.
#pragma once

#include <optional>
#include <string_view>

#include "data/format/names_record.h"
#include "data/format/safetensors.h"

namespace trainwarden::format {

std::optional<Names> read_compact_names(std::string_view json);  // without metrics
// Entries in the order in which they are written; data_offset stays 0.
std::optional<SafetensorsHeader> read_compact_safetensors(std::string_view json);

}  // namespace trainwarden::format
