// Up to where of an output an earlier reading has kept its values: what a killed one did not come to is read by the
// next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::output {

// In bytes from the beginning of `file`: 0 when the run has nothing of rank `rank`'s output yet; none when it does not
// say (it was written before readings said so, or is of another file). Errors as JournalReader's.
Result<std::optional<std::uint64_t>> kept_position(const storage::Storage& run, int rank,
                                                   const std::filesystem::path& file);

}  // namespace trainwarden::output
