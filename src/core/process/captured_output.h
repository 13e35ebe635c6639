// capture_output: asks a program something, and reads what it answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "core/process/exit_record.h"
#include "core/process/program.h"
#include "trainwarden/status.h"

namespace trainwarden::process {

struct CapturedOutput {
  ExitRecord exit;
  std::string text;    // the last of its standard output
  std::string errors;  // and of its standard error
};

// Runs it to its end, with nothing to read unless it says from where; `max_bytes` of each stream are kept. Errors as
// Child::start(); kDeadlineExceeded when it took longer, and was killed with all that it had started.
Result<CapturedOutput> capture_output(Program program, std::size_t max_bytes, std::chrono::milliseconds timeout);

}  // namespace trainwarden::process
