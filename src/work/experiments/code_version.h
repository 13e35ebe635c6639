// Which code a job ran: what git knows of a folder, and the packages of a Python.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "trainwarden/status.h"

namespace trainwarden::experiments {

// "code.commit", "code.repository" (without a password) and, when files differ from the commit, "code.diff": a hash of
// the difference. Empty when the folder is in no repository, or there is no git. Hooks of the repository, and
// what it names to show differences, are not run. Takes a second at most for each question.
std::map<std::string, std::string> code_version(const std::filesystem::path& folder);

// "name==version" a line, sorted. Asks the Python that a shell in this folder would find; kNotFound when there is none.
Result<std::string> python_packages(const std::filesystem::path& folder);

}  // namespace trainwarden::experiments
