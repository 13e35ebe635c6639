// The token in a file that only its user can read, for programs on this machine.
#pragma once

#include <filesystem>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::server {

// Where the token of the server on this port is looked for: in XDG_RUNTIME_DIR, which is the user's alone and gone with
// the session. Empty when there is none.
std::filesystem::path default_token_file(std::uint16_t port);

// Mode 0600 from the beginning, in place of an older one. kUnavailable; kPermissionDenied for a link.
Status write_token_file(const std::filesystem::path& file, std::string_view token);
// Unless another server has written its own there since.
void remove_token_file(const std::filesystem::path& file, std::string_view token);

}  // namespace trainwarden::server
