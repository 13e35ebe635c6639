// Rules by which runs are kept, as users write them: options of `gc`, or a file.
#pragma once

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "read/retention/gc_plan.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// What a folder of runs has its rules in, where no others are given.
inline constexpr const char* kPolicyFile = "gc.toml";

struct GcChoice {
  std::string policy;  // the file; empty: that of the folder, when no option says anything
  std::string older_than;
  std::string max_bytes;
  std::string max_runs;
  std::string keep_last;
  std::string thin_older_than;
  std::string every;
  std::vector<std::string> keep;

  // The file's rules, with the options in place of those that both have. kInvalidArgument for what is none, and when
  // neither says anything.
  Result<retention::KeepRules> read(const std::filesystem::path& runs) const;
};
void add_gc_choice(CLI::App& command, GcChoice& choice);

}  // namespace trainwarden::cli
