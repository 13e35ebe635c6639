// SshHost: a machine that jobs are sent to through the system's own ssh, with the user's keys and configuration.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::ssh {

struct SshHost {
  std::string destination;  // "gpu1", "user@gpu2": as ssh takes it, also a name of the user's ssh_config
  int port = 0;             // 0: what ssh's configuration says
  friend bool operator==(const SshHost&, const SshHost&) = default;
};
std::string to_string(const SshHost& host);  // "user@gpu2:2222"

// kInvalidArgument when it is no "[USER@]HOST[:PORT]", also when ssh would take it for an option.
Result<SshHost> parse_ssh_host(std::string_view text);

// A word of a shell on the host, whatever is in it.
std::string shell_word(std::string_view text);

// The command that runs `script`, lines of a POSIX shell, there: without passwords, questions, forwarded keys or
// connections of ours that others could share.
std::vector<std::string> ssh_command(const SshHost& host, const std::string& script);

inline constexpr std::chrono::seconds kHostTimeout{60};

// What the script has printed. `input`: a descriptor to read from; -1: nothing. Errors:
//   kUnavailable         the host cannot be reached, with ssh's last words. What the script has done nobody knows
//   kFailedPrecondition  the script has failed, with its words
Result<std::string> run_on_host(const SshHost& host, const std::string& script, int input = -1,
                                std::chrono::milliseconds timeout = kHostTimeout);

// The last line that says something of what ssh has printed to standard error.
std::string last_words(std::string_view errors);

}  // namespace trainwarden::ssh
