// The files of a job that comes as a request of SageMaker's API: CreateTrainingJob, or CreateProcessingJob.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/environment.h"
#include "trainwarden/status.h"

namespace trainwarden::sagemaker {

inline constexpr const char* kJobFile = "job.json";
inline constexpr const char* kCodeFolder = "code";

struct RequestFiles {
  std::string name;              // of the job
  std::filesystem::path folder;  // where the files are to lie: JOBS/NAME/SUBMISSION
  // By name:
  //   request.json      the request itself, for who describes the job later
  //   job.json          the job (docs/reference/job-spec.md)
  //   hook.json         what is captured; in smdebug's schema, which our hook reads
  //   actions.toml      what rules start
  //   profilerconfig.json  how it is profiled, as SageMaker's platform tells a training
  //   tensorboard.json  where the run is exported for TensorBoard
  std::map<std::string, std::string> texts;
  std::string script;    // an entry point that came without a folder of sources: it belongs into code/; empty: none
  std::string captured;  // an address: where the run is to be found too, as PATH/JOB/debug-output; empty: nowhere, or
                         // in a bucket, which job.json says
  std::map<std::string, std::filesystem::path> outputs;  // of a processing job, by name: folders that it writes into
  std::vector<std::string> notices;                      // what its user should know
};

struct RequestPlaces {
  std::filesystem::path here;                     // where relative paths of the request begin
  std::filesystem::path jobs;                     // the folder of jobs; whole
  std::string submission;                         // the name of a folder within the job's
  std::string job;                                // its name, whatever the request says; empty: TrainingJobName
  std::uint64_t free_disk_bytes = 0;              // of the folder of jobs; 0: not known
  Environment environment = process_environment;  // names mail servers and gateways
};

// kInvalidArgument tells every mistake: a field that is not known, or that only the cloud has (and what to use
// instead). What is wrong with the job that comes out is told by who reads job.json. Reads no file but those of
// scripts.
Result<RequestFiles> files_of_request(std::string_view text, const RequestPlaces& places);

}  // namespace trainwarden::sagemaker
