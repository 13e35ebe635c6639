// Path rules: which paths a storage takes.
#pragma once

#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::storage {

// kInvalidArgument for a path that could lead out of the root, or that has two spellings. "" is the root.
Status check_path(std::string_view path);
// The same for a file, which the root is not.
Status check_file_path(std::string_view path);

// "a/b" of "a/b/c", "" of "c".
std::string_view parent_path(std::string_view path);

}  // namespace trainwarden::storage
