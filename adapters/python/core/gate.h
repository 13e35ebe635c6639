// Gate: a function of Python's that stands in the place of another one, and costs next to nothing while it only passes
// on.
#pragma once

#include <nanobind/nanobind.h>

namespace trainwarden::python {

// Adds the type Gate to the module; gate.cc says what it does.
void bind_gate(nanobind::module_& module);

}  // namespace trainwarden::python
