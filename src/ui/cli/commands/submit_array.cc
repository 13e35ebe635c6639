// Arrays of jobs: submitted together, found again by their name.
#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/run_locator.h"
#include "work/jobs/job_naming.h"
#include "work/jobs/spec_change.h"

namespace trainwarden::cli {
namespace {

struct ArrayJob {
  CheckedJob job;
  SubmitPlan submission;
};

Status check_name_is_free(const SubmitPlan& submission) {
  if (!jobs::is_job_name(submission.name)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}; name the array with --name", jobs::no_job_name(submission.name)));
  }
  const storage::Location folder(jobs_folder(submission.jobs));
  const bool is_taken = folder.storage().exists(submission.name + "/" + jobs::kOrderFile) ||
                        trial::is_run(runs_folder(submission.runs) / submission.name);
  if (!is_taken) return {};
  return Status(Code::kAlreadyExists,
                fmt::format("there is a job or a run \"{}\" already; name the array with --name", submission.name));
}

Result<ArrayJob> make_array_job(const CheckedJob& job, const jobs::ArrayPoint& point, const SubmitPlan& submission,
                                JobBackends& backends) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string text,
                               jobs::changed_spec(job.text, {.hyperparameters = point, .source_dir = ""}));
  TRAINWARDEN_ASSIGN_OR_RETURN(CheckedJob one, check_job_text(std::move(text), submission.spec, job.spec.backend));
  one.warnings.clear();  // which were told of the whole
  TRAINWARDEN_RETURN_IF_ERROR(check_for_submission(one, backends));
  TRAINWARDEN_RETURN_IF_ERROR(check_name_is_free(submission));
  return ArrayJob{std::move(one), submission};
}

}  // namespace

Result<std::vector<jobs::JobRecord>> submit_array(const CheckedJob& job, const std::vector<jobs::ArrayPoint>& points,
                                                  const SubmitPlan& submission, JobBackends& backends) {
  std::string array = submission.name.empty() ? job.spec.name : submission.name;
  if (array.empty()) array = jobs::make_job_name(job.spec, system_clock().unix_ns());
  std::vector<ArrayJob> all;
  for (std::size_t i = 0; i < points.size(); ++i) {
    SubmitPlan one = submission;
    one.name = jobs::name_in_array(array, i);
    one.array = array;
    TRAINWARDEN_ASSIGN_OR_RETURN(ArrayJob made, make_array_job(job, points[i], one, backends));
    all.push_back(std::move(made));
  }
  std::vector<jobs::JobRecord> records;
  for (const ArrayJob& one : all) {
    Result<jobs::JobRecord> record = submit_job(one.job, one.submission, backends);
    if (!record.ok()) {
      return Status(record.status().code(),
                    fmt::format("of the {} jobs of the array {} were submitted; {}: {}", all.size(), records.size(),
                                one.submission.name, record.status().message()));
    }
    records.push_back(*std::move(record));
  }
  return records;
}

Result<std::vector<jobs::JobRecord>> jobs_of_array(const storage::Location& jobs, const std::string& array) {
  std::vector<jobs::JobRecord> records;
  // Jobs are removed one by one; the numbers may have gaps.
  for (std::size_t i = 0; i < jobs::kMaxArrayJobs; ++i) {
    const std::string name = jobs::name_in_array(array, i);
    if (!jobs::is_job_name(name) || !jobs.storage().exists(name + "/" + jobs::kOrderFile)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord record, jobs::JobRecord::open(jobs, name));
    if (record.order().array == array) records.push_back(std::move(record));
  }
  if (!records.empty()) return records;
  return Status(Code::kNotFound,
                fmt::format("there is no array of jobs \"{}\" in {}", printable(array), printable(jobs.address())));
}

}  // namespace trainwarden::cli
