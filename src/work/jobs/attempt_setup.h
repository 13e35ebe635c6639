// AttemptSetup: how an attempt of a job was set up on its machine: what holds it, and what is enforced.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

struct AttemptSetup {
  std::string control_group;  // set aside for jobs, in which it has one of its own; empty: it has none
  std::string memory;         // what keeps it within its memory, or why nothing does, for people; empty: it asked none
  std::vector<std::vector<int>> rank_cpus;  // of each rank, when they are bound
  friend bool operator==(const AttemptSetup&, const AttemptSetup&) = default;
};

std::string encode_setup(const AttemptSetup& setup);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<AttemptSetup> decode_setup(std::string_view text, std::string_view what);

// A name that no other attempt of any job on this machine has, "bert-7-1-8d3ac9f0". It is made from the job's own
// folder and never read from a file, so that a folder that somebody has crafted can only name what is its own.
std::string attempt_key(const std::filesystem::path& job_folder, int attempt);

// Kills what is left of an attempt that was set up so, and removes what held it. Fine when nothing is.
void end_setup(const AttemptSetup& setup, const std::string& key);

}  // namespace trainwarden::jobs
