// A job as it was read, with what is wrong with it: for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/options/list_options.h"
#include "ui/cli/reports/attempt_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/table.h"
#include "work/catalogue/job_table.h"
#include "work/document/mistakes.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {

// The program that a task of it runs, and its arguments.
std::vector<std::string> program_words(const jobs::JobSpec& spec);

// The list of jobs, with columns for values that they have.
class JobTable {
 public:
  explicit JobTable(std::vector<std::string> columns);
  void add(const catalogue::CataloguedJob& job, const ListItem& item);
  std::string to_string() const { return table_.to_string(); }

 private:
  std::vector<std::string> columns_;
  Table table_;
  std::int64_t now_unix_ns_;
};
// As a row of lists; as facts `ran`, in seconds.
ListItem list_item_of(const catalogue::CataloguedJob& job);
OrderedJson row_json(const catalogue::CataloguedJob& job, const ListItem& item);

// "bert-7: Stopping (asked by anna)"
std::string standing_text(const jobs::JobRecord& job, const jobs::Transition& now);
OrderedJson standing_json(const jobs::JobRecord& job, const jobs::Transition& now);

// With the attempt that is the newest.
std::string job_text(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions,
                     const AttemptFacts& attempt);
OrderedJson job_json(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions,
                     const AttemptFacts& attempt);

std::string job_lint_text(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings);
OrderedJson job_lint_json(const jobs::JobSpec& spec, const document::Mistakes& mistakes,
                          const std::vector<jobs::Warning>& warnings);

}  // namespace trainwarden::cli
