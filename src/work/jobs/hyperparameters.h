// Hyper-parameters as a script gets them: on its command line, in the way of SageMaker's training toolkit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "work/document/document.h"

namespace trainwarden::jobs {

// The value as text: a text as it is, True or False, a number as Python prints it, null as nothing, a table as
// "k=v,k=v" by key, a list as Python prints it: "[1, 'a']".
std::string argument_text(const document::DocumentValue& value);

// By name: "--epochs", "3", "-b", "32". Names that begin with "sagemaker_" and "_tuning_objective_metric" are not for
// the script.
std::vector<std::string> script_arguments(const std::map<std::string, document::DocumentValue>& hyperparameters);

}  // namespace trainwarden::jobs
