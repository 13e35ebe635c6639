// Kineto import: a trace of PyTorch's profiler as a run of ours.
#pragma once

#include <filesystem>

#include "trainwarden/status.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

// Calls and memory changes that are held at a time, and bytes of the trace's text: a larger trace is refused.
inline constexpr std::size_t kMaxKinetoCalls = std::size_t{1} << 22;
inline constexpr std::uint64_t kMaxKinetoBytes = std::uint64_t{4} << 30;

// Writes a run of one worker, which says that it was imported from `origin`, into the folder, which is there. kDataLoss
// when the file is no such trace, kResourceExhausted when it is too large.
Result<ImportReport> import_kineto_trace(const std::filesystem::path& file, const std::filesystem::path& folder,
                                         const std::string& origin);

}  // namespace trainwarden::transfer
