// A job as it was read, with what is wrong with it: for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "work/document/mistakes.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {

// The program that a task of it runs, and its arguments.
std::vector<std::string> program_words(const jobs::JobSpec& spec);

// A line of the list of jobs.
struct JobRow {
  std::string name;
  std::string run;
  std::int64_t submitted_unix_ns = 0;
  jobs::Transition now;
  Status unreadable;  // ok: it is not
};
std::string job_table(const std::vector<JobRow>& rows);
OrderedJson row_json(const JobRow& row);

// "bert-7: Stopping (asked by anna)"
std::string standing_text(const jobs::JobRecord& job, const jobs::Transition& now);
OrderedJson standing_json(const jobs::JobRecord& job, const jobs::Transition& now);

std::string job_text(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions);
OrderedJson job_json(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions,
                     const std::optional<jobs::JobExit>& exit);

std::string job_lint_text(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings);
OrderedJson job_lint_json(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings);

}  // namespace trainwarden::cli
