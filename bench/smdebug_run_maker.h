// Makes a finished run as smdebug leaves it: one worker, five small tensors a step.
#pragma once

#include <filesystem>
#include <string_view>

namespace trainwarden::bench {

inline constexpr std::string_view kRunTensor = "gradient/Net_fc.weight";  // one of the five, 16 floats

// `folder` does not exist yet. Throws when the disk does not take it.
void make_smdebug_run(const std::filesystem::path& folder, int steps);

}  // namespace trainwarden::bench
