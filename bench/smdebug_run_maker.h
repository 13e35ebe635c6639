// Makes a finished run as smdebug leaves it: one worker, five small tensors a step.
#pragma once

#include <filesystem>
#include <string_view>

namespace trainwarden::bench {

inline constexpr std::string_view kRunTensor = "gradient/Net_fc.weight";  // one of the five, 16 floats

enum class EventFiles { kWritten, kLeftOut };  // two thirds of a run's files and folders; opening looks at none of them

// `folder` does not exist yet. Throws when the disk does not take it.
void make_smdebug_run(const std::filesystem::path& folder, int steps, EventFiles event_files);

}  // namespace trainwarden::bench
