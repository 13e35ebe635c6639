// The environment of whoever submits a job, kept until its program starts: its agent may have been started by another
// program, of another shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/process/program.h"
#include "trainwarden/status.h"

namespace trainwarden::jobs {

// Makes the file, which its owner alone may read: variables may hold keys. Those of a job that submits another one are
// left out. `environment`: "NAME=value" each. kAlreadyExists when it is there; the errors of the file system.
Status write_submitter_environment(const std::filesystem::path& file, const std::vector<std::string>& environment);

// What makes our environment the one in the file. kNotFound, kDataLoss when it is none.
Result<process::EnvironmentChanges> read_submitter_environment(const std::filesystem::path& file);

}  // namespace trainwarden::jobs
