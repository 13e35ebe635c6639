// What `trainwarden rule-host` does: runs a rule of a shared object for an engine in another process.
#pragma once

namespace trainwarden::rules {

// Answers the questions that come over the socket (HostProcess), until it is closed. Returns the exit code.
int serve_rule(int socket);

}  // namespace trainwarden::rules
