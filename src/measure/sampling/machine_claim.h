// The claim of a sampler on its machine: no two sample the same one into a run, where all of it would be there twice.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::sampling {

// Which machine it is: the kernel's boot (below `root`), the host's name, which differs between containers of one
// kernel, and what a scheduler calls the node. Empty: the kernel does not say.
std::string machine_mark(const std::filesystem::path& root, const std::string& host, const std::string& node);

// Held until it is gone. The run must be there. kAlreadyExists: another sampler has it.
Result<std::unique_ptr<storage::Lease>> claim_machine(const storage::Location& run, const std::string& mark,
                                                      const Clock& clock);

}  // namespace trainwarden::sampling
