// Forked children must leave the parent's hook alone: its threads do not exist there, and its files are the parent's.
#pragma once

#include <cstdint>

namespace trainwarden::capture {

// How many forks lie between the process that first asked and this one. A hook remembers it when it opens and is off
// in a process where it is another. Costs one load.
std::uint32_t fork_generation();

// Makes fork() count from now on. Idempotent, from any thread.
void watch_forks();

}  // namespace trainwarden::capture
