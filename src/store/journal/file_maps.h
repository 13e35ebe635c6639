// File maps: whether this process reads values where they lie in mapped files.
//
// Should a file be cut while somebody looks at a mapping of it, the process dies (SIGBUS); copying and network file
// systems do that. So nobody maps but a process that does one thing and ends, on which no other depends: who judges or
// exports a run from the command line.
#pragma once

namespace trainwarden::journal {

// For this process. From any thread.
void allow_file_maps(bool allowed = true);
bool file_maps_allowed();

}  // namespace trainwarden::journal
