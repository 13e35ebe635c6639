// What the tests of this floor search.
#pragma once

#include <cstdint>

#include "tune/study/study.h"

namespace trainwarden::tune {

// A study "s" of one number, x from 0 to 1, whose loss is to be small.
inline StudySpec line_spec(std::int64_t trials, std::int64_t parallel) {
  StudySpec spec{.name = "s",
                 .space = *Space::make({{.name = "x", .min = 0, .max = 1}}),
                 .metrics = {{.name = "loss"}},
                 .parallel = parallel};
  spec.budget.trials = trials;
  return spec;
}

}  // namespace trainwarden::tune
