// The hook's JSON file, laid over options that are already there. The schema is in docs/reference/config.md.
#pragma once

#include <filesystem>
#include <string_view>

#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// A key of the document replaces the option; collections and labels are merged by name. `source_name` begins every
// message. kInvalidArgument for text that is not JSON (with line and column), unknown keys, wrong types and values out
// of range; `options` is then left half changed.
Status overlay_json(std::string_view json, std::string_view source_name, HookOptions& options);

// The same from a file. kNotFound and the other codes of reading it.
Status overlay_json_file(const std::filesystem::path& file, HookOptions& options);

}  // namespace trainwarden::capture
