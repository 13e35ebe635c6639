// OutputView: what was read of a program's output, for people.
#pragma once

#include <cstdio>

#include "trainwarden/trial.h"
#include "work/output/output_metrics.h"

namespace trainwarden::cli {

// At the end of `run`: what was found, and what was not kept or not understood.
void print_output_result(const output::OutputResult& result);
// The last value of each metric, and what could not be read; nothing where no output was read.
void print_printed_metrics(std::FILE* out, Trial& trial);

}  // namespace trainwarden::cli
