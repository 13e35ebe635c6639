// Trainings that one program has made besides its first one, each in a process of its own: they are captured in runs
// beside that run, and judged when the program has ended.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace trainwarden::cli {

// The runs RUN-pPID beside `run` that are there now, in the order in which they began.
std::vector<std::filesystem::path> runs_beside(const std::filesystem::path& run);

// Of many the first ones are judged.
inline constexpr std::size_t kMaxJudgedBeside = 16;

// Judges what of `now` is not in `before` by rules with these specs, and says of each on standard error what is wrong
// with it; of one that still goes on, and of those beyond the limit, how that is found out. Gives whether a rule has
// fired. `mute`: as EngineOptions.
bool judge_later_trainings(const std::vector<std::filesystem::path>& before,
                           const std::vector<std::filesystem::path>& now, const std::vector<std::string>& specs,
                           const std::vector<std::string>& mute);

}  // namespace trainwarden::cli
