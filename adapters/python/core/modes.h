// Modes by their names.
#pragma once

#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include "trainwarden/mode.h"

namespace trainwarden::python {

// ValueError for a name that is none.
inline Mode mode_of(std::string_view text) {
  if (const auto mode = parse_mode(text)) return *mode;
  const std::string problem = "expected the mode train, eval, predict or global, found \"" + std::string(text) + "\"";
  throw nanobind::value_error(problem.c_str());
}

}  // namespace trainwarden::python
