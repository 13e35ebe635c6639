// CheckpointView: what a run's workers saved because somebody asked, for people and for programs.
#pragma once

#include <cstdio>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "ui/views/checkpoints.h"

namespace trainwarden::cli {

OrderedJson json_of(const views::WorkerCheckpoint& checkpoint);
// A table; nothing when there are none.
void print_checkpoints(std::FILE* out, const std::vector<views::WorkerCheckpoint>& checkpoints);

}  // namespace trainwarden::cli
