// A diagnosis as people read it.
#pragma once

#include <cstdio>
#include <string>

#include "judge/diagnosis/diagnosis.h"

namespace trainwarden::cli {

// The first screen: one sentence, its evidence in at most six lines, the next step. `whole`: the other findings with
// theirs, consequences, and what is missing. `failure`: how the training failed (views::failure_of()), or empty.
void print_diagnosis(std::FILE* out, const diagnosis::Diagnosis& diagnosis, const std::string& failure, bool whole);
// What that begins with, as one sentence.
std::string diagnosis_text(const diagnosis::Diagnosis& diagnosis, const std::string& failure);
// One line for the head of a page of other things; nothing when there is no diagnosis.
void print_diagnosis_line(std::FILE* out, const diagnosis::Diagnosis& diagnosis, const std::string& run);

}  // namespace trainwarden::cli
