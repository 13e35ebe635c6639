// `trainwarden rules RUN`: where the rules that judged a run stand.
#pragma once

#include <filesystem>

namespace trainwarden::cli {

// For people a table; as JSON the list that SageMaker's rule_job_summary() gave, with fields of ours besides
// (docs/reference/cli.md). Returns the exit code.
int print_rules_of_run(const std::filesystem::path& run, bool json);

}  // namespace trainwarden::cli
