// FakeSlurm: programs with the names of Slurm's, for tests that need no cluster.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/folder_testing.h"
#include "work/slurm/slurm_commands.h"

namespace trainwarden::slurm {

class FakeSlurm {
 public:
  FakeSlurm() {
    for (const char* tool : {"sbatch", "squeue", "scontrol", "scancel", "sacct"}) answers(tool, "exit 0");
  }

  // What it does from now on: lines of a shell.
  void answers(const std::string& tool, const std::string& script) const {
    const std::filesystem::path path = folder() / tool;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  const std::filesystem::path& folder() const { return folder_.path(); }
  SlurmCommands commands() const {
    Result<SlurmCommands> commands = SlurmCommands::find(folder().string());
    EXPECT_TRUE(commands.ok()) << commands.status().to_string();
    return *commands;
  }

 private:
  TestFolder folder_;
};

}  // namespace trainwarden::slurm
