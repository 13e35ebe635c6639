// Optuna's journal: a file with an operation in each line, as JSON. Operations of this reader:
//
//   op_code 0: a study is made (study_name, directions: 1 minimize, 2 maximize)    1: one is deleted (study_id)
//           3: system_attr of one ("study:metric_names")
//           4: a trial is made (study_id, datetime_start; may have all that it is, as the others say)
//           5: param_name, param_value_internal, distribution (of trial_id)
//           6: state (0 running, 1 complete, 2 pruned, 3 failed, 4 waiting), values, datetime_complete
//           7: step, intermediate_value      8: user_attr
//
// Studies and trials count from 0 in the order in which they are made.
#pragma once

#include "tune/optuna/optuna_study.h"

namespace trainwarden::tune {

// A last line without an end, which somebody may be writing, is left out. Errors as optuna_study.h says.
Result<std::vector<std::string>> names_in_optuna_journal(const std::filesystem::path& file);
Result<OptunaStudy> read_optuna_journal(const std::filesystem::path& file, const std::string& name);

}  // namespace trainwarden::tune
