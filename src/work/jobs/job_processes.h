// The processes of a job on this machine, whoever has started them and whatever group they are in.
#pragma once

#include <cstddef>
#include <filesystem>

namespace trainwarden::jobs {

// SIGKILL to every process that has this folder as TRAINWARDEN_JOB_DIR in its environment and may be looked at by this
// user, again and again until none is left; for a few seconds at most. Returns how many were there.
std::size_t kill_processes_of(const std::filesystem::path& job);

}  // namespace trainwarden::jobs
