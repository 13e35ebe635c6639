// Hyper-parameters as SageMaker's scripts have them: their spelling, and what a job hands over in its environment.
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace bert {

// The help's heading for them.
inline constexpr const char* kHyperparameters = "Hyper-parameters by SageMaker's names";

// An option that is True or False, in any case, as jobs hand them over.
CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& value, const std::string& summary);

// Where the sub-command is chosen: what SM_HPS names in the environment (a JSON object, as training jobs have it) is
// read from SM_HP_NAME for the option of its name, unless the command line has that. A name that is no option's is an
// error (CLI::ValidationError), so that a misspelt one is not passed over.
void take_from_job(CLI::App& app);

}  // namespace bert
