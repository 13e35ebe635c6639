// What a job's program finds on a node that is not the first one, whose agent has prepared it for all: they share the
// job's folder.
//
//   JOB/ml/nodes/1/input/          the node's own channels and configuration
//   JOB/ml/nodes/1/variables.json  the node's variables, in place of those of the first one
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/workspace/layout.h"

namespace trainwarden::workspace {

// The same as `first`, but for what a node has of its own. Nodes count from 0, which is `first` itself.
JobLayout layout_of_node(const JobLayout& first, std::int64_t node);

Status write_node_variables(const JobLayout& first, std::int64_t node,
                            const std::map<std::string, std::string>& variables);
// None for the first node, and for a job whose nodes have no variables of their own. kDataLoss when the file is none.
Result<std::map<std::string, std::string>> read_node_variables(const jobs::JobRecord& job, std::int64_t node);

}  // namespace trainwarden::workspace
