// JobTrials: runs the trials of a study as jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "judge/rules/run_diagnosis.h"
#include "trainwarden/trial.h"
#include "tune/conduct/trial_runner.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/running/job_backend.h"

namespace trainwarden::cli {

struct JobTrialsOptions {
  std::string spec;  // the job's file; hyper-parameters of the study are added to its own
  std::string jobs, runs;
  std::vector<std::string> metrics;  // names
  bool ends_by_verdict = true;
  bool pauses = false;  // trials stop and go on: their job has to say that it can
};

// A metric that no run measures itself: how long the job's program has run, in seconds.
inline constexpr const char* kTrainingTime = "training_time";

// One thread at a time.
class JobTrials final : public tune::TrialRunner {
 public:
  // The job's file is read once. kInvalidArgument tells every mistake.
  static Result<JobTrials> make(JobTrialsOptions options);

  Status start(const std::string& job, const tune::TriedValues& values) override;
  Result<tune::TrialLook> look(const std::string& job) override;
  Status stop(const std::string& job, const std::string& why) override;
  // fingerprint_of_job(), which is asked for once in a few seconds: code that changes faster is seen a little later.
  std::string fingerprint() override;
  Status go_on(const std::string& job, const std::string& why) override;

 private:
  // What is kept of a trial that runs, so that nothing is read twice.
  struct Followed {
    std::unique_ptr<Trial> trial;
    rules::RunDiagnosis diagnosis;
  };

  JobTrials(JobTrialsOptions options, CheckedJob job);
  void read_run(const std::string& job, const jobs::JobRecord& record, tune::TrialLook& look);
  void read_end(const jobs::JobRecord& record, const jobs::Transition& now, tune::TrialLook& look) const;

  JobTrialsOptions options_;
  std::string text_;
  jobs::JobSpec spec_;
  std::filesystem::path folder_;  // where relative paths of the job begin
  std::string fingerprint_;
  std::int64_t fingerprint_steady_ns_ = 0;    // when it was asked for
  std::map<std::string, Followed> followed_;  // by job
  JobBackends backends_;
};

}  // namespace trainwarden::cli
