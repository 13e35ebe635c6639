// Command words: a command line taken apart as a shell would, without a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::actions {

// Words are parted by blanks. 'x' is x as it stands; within "x" a backslash makes ", \, $ and ` what they are;
// elsewhere it does so for any character. What only a shell could do (pipes, redirections, variables, commands within
// commands, several commands) is refused with kInvalidArgument, so that nobody believes it happens; so are a quote
// without its end and a command without a word. Patterns (*.py) and ~ are taken as they stand.
Result<std::vector<std::string>> split_command(std::string_view text);

}  // namespace trainwarden::actions
