// The objects of some classes that are alive now.
#pragma once

#include <nanobind/nanobind.h>

namespace trainwarden::python {

// Adds living_objects() to the module; living_objects.cc says what it does.
void bind_living_objects(nanobind::module_& module);

}  // namespace trainwarden::python
