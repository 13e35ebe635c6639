// A job as a manifest for Kubernetes: batch/v1, Job (Kubernetes 1.26 or later, for podFailurePolicy).
#pragma once

#include <string>
#include <vector>

#include "data/format/json.h"
#include "work/document/mistakes.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::manifest {

struct ManifestChoice {
  std::string name;                  // of the job; empty: the spec's, or what its name begins with
  std::string claim;                 // a PersistentVolumeClaim for channels and results; empty: none
  std::vector<std::string> program;  // of one task, and its arguments
  std::string folder;                // where relative paths of the spec begin
};

// A List of what is to be made: a headless Service when the job has several nodes, and the Job. JSON, which is YAML
// too. The folders and variables in the container are those of a job here, beneath /opt/ml. What a manifest cannot say
// is added to `warnings` and stands in the Job's annotation "trainwarden-not-said"; what it cannot do without, such as
// an image, is added to `mistakes`.
format::OrderedJson kubernetes_manifest(const jobs::JobSpec& spec, const ManifestChoice& choice,
                                        document::Mistakes& mistakes, std::vector<jobs::Warning>& warnings);

}  // namespace trainwarden::manifest
