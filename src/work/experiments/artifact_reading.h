// An artifact as a user names it, with its hash where it lies on this machine.
#pragma once

#include <string>

#include "work/experiments/content_hash.h"
#include "work/experiments/entities.h"

namespace trainwarden::experiments {

// artifact_of() looks at nothing. `uri` is a path, "file://...", or an address elsewhere, which is not looked at. What
// could not be hashed says why in its note. Paths become whole ones. Its type follows from its name: "model" is a
// Model, "checkpoints" a Checkpoint, "code" Code, "environment" an Environment, "image" an Image; else an input is a
// DataSet and an output an Output.
ArtifactUse artifact_of(const std::string& name, const std::string& uri, bool is_output, const ContentHash& content);
ArtifactUse read_artifact(const std::string& name, const std::string& uri, bool is_output, const HashBudget& budget);

}  // namespace trainwarden::experiments
