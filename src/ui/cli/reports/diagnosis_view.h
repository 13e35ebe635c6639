// A diagnosis as people and programs read it.
#pragma once

#include <cstdio>
#include <string>

#include "judge/diagnosis/diagnosis.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {

// The first screen: one sentence, its evidence in at most six lines, the next step. `whole`: the other findings with
// theirs, consequences, and what is missing.
void print_diagnosis(std::FILE* out, const diagnosis::Diagnosis& diagnosis, bool whole);
OrderedJson diagnosis_json(const diagnosis::Diagnosis& diagnosis);

}  // namespace trainwarden::cli
