// What the program of a job finds in its environment and in input/config, with the names that SageMaker's training
// toolkit gives to both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"
#include "work/workspace/layout.h"

namespace trainwarden::workspace {

// The machine as one node of the job sees it.
struct NodeSurroundings {
  std::vector<std::string> hosts = {"algo-1"};  // of all nodes
  std::string host = "algo-1";                  // this one
  std::int64_t cpus = 1;
  std::int64_t gpus = 0;
  std::vector<std::string> arguments;  // the program's
};

// Variables by name: SM_HPS, SM_CHANNEL_TRAIN, ..., and our own (TRAINWARDEN_CHECKPOINT_DIR and others). Texts stand as
// they are, all else as JSON without blanks, its names sorted; SM_HP_ and SM_CHANNEL_ are followed by the name in
// capitals, and a name with hyphens is there a second time with underscores.
std::map<std::string, std::string> toolkit_variables(const jobs::JobSpec& spec, const JobLayout& layout,
                                                     const NodeSurroundings& surroundings);

// Writes hyperparameters.json, inputdataconfig.json and resourceconfig.json.
Status write_config_files(const jobs::JobSpec& spec, const JobLayout& layout, const NodeSurroundings& surroundings);

}  // namespace trainwarden::workspace
