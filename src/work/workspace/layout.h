// JobLayout: where the program of a job finds what is its own, in the way of SageMaker's containers.
//
//   JOB/code-.../                 the sources as they were when the job was submitted; the program works here
//   JOB/ml/input/config/*.json    hyper-parameters, channels and resources
//   JOB/ml/input/data/CHANNEL     a link to the channel's data, or a folder of links to this node's share
//   JOB/ml/model/                 becomes OUTPUT/JOB/output/model.tar.gz
//   JOB/ml/output/data/           becomes OUTPUT/JOB/output/output.tar.gz
//   JOB/ml/output/failure         what the program says of why it failed
//   OUTPUT/JOB/rule-output/RULE/  what a rule that writes reports has written; without an output folder JOB/rule-output
//   JOB/checkpoints/              checkpoints, unless the job says where they are
//
// What is in a bucket comes to the job's folder first, and leaves from there (bucket_transfer.h):
//
//   JOB/fetched/CHANNEL/          the channel's data, to which JOB/ml/input/data/CHANNEL is linked
//   JOB/output/                   sent to OUTPUT/JOB/output, JOB/rule-output/ to OUTPUT/JOB/rule-output
//   JOB/checkpoints/              kept in the bucket too
//   JOB/tensorboard/JOB/          kept in TENSORBOARD/JOB too
#pragma once

#include <filesystem>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::workspace {

inline constexpr const char* kRuleOutput = "rule-output";
inline constexpr const char* kBoard = "tensorboard";

struct JobLayout {
  std::filesystem::path root;  // JOB/ml
  std::filesystem::path code;
  std::filesystem::path input;
  std::filesystem::path input_config;
  std::filesystem::path input_data;
  std::filesystem::path model;
  std::filesystem::path output;
  std::filesystem::path output_data;
  std::filesystem::path intermediate;
  std::filesystem::path checkpoints;       // the program writes them here
  std::filesystem::path kept_checkpoints;  // and they are kept here; the same folder, unless the job says otherwise
  std::filesystem::path results;           // OUTPUT/JOB/output
  std::filesystem::path rule_output;       // OUTPUT/JOB/rule-output
  std::filesystem::path fetched;           // JOB/fetched
  std::filesystem::path board;             // JOB/tensorboard/JOB
  std::string bucket_checkpoints;          // "s3://...": where the kept ones are kept too; empty: nowhere
  std::string bucket_board;                // "s3://.../JOB": where the board is kept too; empty: nowhere
  std::string bucket_outputs;              // "s3://.../JOB": where results and rule output go; empty: they are there
};

// Does it lie in a bucket that only a network reaches?
bool is_in_bucket(const std::string& address);

// A path, "file://..." or "s3://..." as a folder or file of this machine; relative ones begin in `base`. Errors as of
// storage::folder_of_bucket().
Result<std::filesystem::path> local_path(const std::string& address, const std::filesystem::path& base);

// Where in a bucket the run of a job is kept too, as SageMaker has it: MIRROR/JOB/debug-output, or
// OUTPUT/JOB/debug-output where the job's output is in a bucket. Empty: nowhere.
std::string mirror_of(const jobs::JobSpec& spec, const std::string& job);

// The folder in which the run is shown to TensorBoard, under its own name; `job` is the job's folder. Errors as
// local_path().
Result<std::filesystem::path> local_board(const jobs::JobSpec& spec, const std::filesystem::path& base,
                                          const std::filesystem::path& job);

// The data of a channel on this machine: where they lie, or where they are fetched to. Errors as local_path().
Result<std::filesystem::path> local_source(const jobs::Channel& channel, const std::filesystem::path& base,
                                           const std::filesystem::path& fetched);

// Relative paths of the spec begin where its file lies.
Result<JobLayout> layout_of(const jobs::JobRecord& job, const jobs::JobSpec& spec);

}  // namespace trainwarden::workspace
