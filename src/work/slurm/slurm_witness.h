// What is left of a job that Slurm's controller has forgotten: it does so some minutes after the end (MinJobAge).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/slurm/slurm_commands.h"
#include "work/slurm/slurm_listing.h"

namespace trainwarden::slurm {

// What Slurm's accounting (sacct) and its list of completed jobs (jobcomp/filetxt) say of these numbers; accounting
// first. Few sites have the one, and fewer let users read the other: what is not there says nothing, which is no
// error. Of a job in the list of completed jobs the state alone is told: it has exit code 0 for what was cancelled.
std::vector<SlurmJob> ask_witnesses(const SlurmCommands& commands, const std::vector<std::int64_t>& ids);

// "17|CANCELLED by 1000|0:9|bert", a line a job and a line each of its steps, "17.batch|...", which are left out. Of a
// job that was requeued the last line counts.
std::vector<SlurmJob> parse_sacct(std::string_view text);

}  // namespace trainwarden::slurm
