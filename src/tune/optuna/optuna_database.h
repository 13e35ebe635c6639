// Optuna's storage in SQLite: its tables, of which each study has rows.
//
//   studies(study_id, study_name)                    study_directions(study_id, objective, direction)
//   trials(trial_id, number, study_id, state, datetime_start, datetime_complete)
//   trial_params(trial_id, param_name, param_value, distribution_json)
//   trial_values(trial_id, objective, value, value_type)           no value_type before Optuna 3
//   trial_intermediate_values(trial_id, step, intermediate_value, intermediate_value_type)
//   trial_user_attributes, study_system_attributes(..., key, value_json)
#pragma once

#include "tune/optuna/optuna_study.h"

namespace trainwarden::tune {

// Errors as optuna_study.h says.
Result<std::vector<std::string>> names_in_optuna_database(const std::filesystem::path& file);
// Trials in any order; check_optuna_study() is the caller's.
Result<OptunaStudy> read_optuna_database(const std::filesystem::path& file, const std::string& name);

}  // namespace trainwarden::tune
