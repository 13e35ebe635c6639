// Everything that a reader can be asked about a run, asked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trainwarden::hostile {

// What is wrong with the answers; "" when nothing is. Damage that is told as such is an answer. `scratch` is a folder
// for exports.
std::string look_at_all(const std::filesystem::path& run, const std::filesystem::path& scratch);
// Every address of the page's server that reads, asked of the run and of its tensors.
std::string look_at_page(const std::filesystem::path& run);
// The page with the run inside.
std::string look_at_one_file_page(const std::filesystem::path& run);
// Every rule that needs no parameter.
std::string judge_by_all_rules(const std::filesystem::path& run);
// The value of the anchor (crafted_run.h); "" when it is right.
std::string look_at_anchor(const std::filesystem::path& run);
// All steps of the two runs but `changed` hold the same, bit for bit; "" when they do.
std::string compare_steps(const std::filesystem::path& run, const std::filesystem::path& golden,
                          const std::vector<std::int64_t>& changed);

}  // namespace trainwarden::hostile
