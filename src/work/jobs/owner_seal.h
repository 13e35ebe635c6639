// The seal of an owner: this user has written a text for a folder, and neither was changed since.
//
// A folder of jobs may come from anybody, and what lies in it is started by whoever looks at it. So a job and a
// standing subscription are sealed with a key that never leaves the user's own folder of state, and nothing without a
// seal is started.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

// Where the key lies: $XDG_STATE_HOME/trainwarden/key, else ~/.local/state/trainwarden/key, where ~ is $HOME, else what
// the machine's list of users says. Empty when the user has no home.
std::filesystem::path owner_key_file();

// HMAC-SHA-256 (RFC 2104) of both, in hexadecimal. The key is made when it is not there. kFailedPrecondition when it
// cannot be read or made, or others may read it.
Result<std::string> owner_seal(std::string_view text, const std::filesystem::path& folder);

// kPermissionDenied when it has another one; `what` begins the message: "job bert-7".
Status check_owner_seal(std::string_view text, const std::filesystem::path& folder, std::string_view seal,
                        std::string_view what);

}  // namespace trainwarden::jobs
