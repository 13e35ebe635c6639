// A job as it was read, with what is wrong with it: for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "work/document/mistakes.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {

// The command that a task of it runs, words with blanks in quotes.
std::string job_command(const jobs::JobSpec& spec);

std::string job_lint_text(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings);
OrderedJson job_lint_json(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings);

}  // namespace trainwarden::cli
