// One attempt of a job: what it got of its machine, what holds it, and what it took.
#pragma once

#include <optional>
#include <string>

#include "trainwarden/status.h"
#include "ui/cli/terminal/json_out.h"
#include "work/jobs/job_record.h"

namespace trainwarden::cli {

struct AttemptFacts {
  int attempt = 1;
  std::optional<jobs::Allocation> allocation;  // nothing: none was given out yet; so for all of these
  std::optional<jobs::AttemptSetup> setup;
  std::optional<jobs::AttemptContainer> container;
  std::optional<jobs::JobExit> exit;
};

Result<AttemptFacts> read_attempt(const jobs::JobRecord& job, int attempt);

std::string attempt_text(const AttemptFacts& facts);  // lines of `job describe`; empty when there is nothing to say
// "allocation", "setup", "container" and "exit", each null when it is not there.
OrderedJson attempt_json(const AttemptFacts& facts);

}  // namespace trainwarden::cli
